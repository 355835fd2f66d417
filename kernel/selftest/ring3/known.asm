; SPDX-License-Identifier: MIT
; Longer than 500 lines: each program stands beside its paper, and most lines are paper.
; Programs with known counts, for kernel/selftest/known.c. Each is followed by its "paper", a list written by hand:
; every instruction that retires, in order, and what kinds of branch it is. kernel/selftest/known.c has the totals once
; more, also counted by hand.
;
; The rules of the paper (docs/how-to/workloads.md says how sure they are): an instruction counts once, also with REP;
; an instruction that faults does not count until it is executed again and completes; a branch counts whether it is
; taken or not, but as taken only if it was, even to the next instruction; SYSCALL counts for the program, as a far
; branch.

%define NOTE(text)
%define NUMBER(name, value) name equ value
%include "kernel/user/ring3/calls.inc"
%include "kernel/selftest/ring3/known.inc"

NOT_TAKEN equ STEP_BRANCH | STEP_CONDITIONAL
TAKEN     equ STEP_BRANCH | STEP_CONDITIONAL | STEP_NEAR_TAKEN
JUMPED    equ STEP_BRANCH | STEP_NEAR_TAKEN
CALLED    equ STEP_BRANCH | STEP_NEAR_TAKEN | STEP_NEAR_CALL
RETURNED  equ STEP_BRANCH | STEP_NEAR_TAKEN | STEP_NEAR_RETURN
FAR_JUMP  equ STEP_BRANCH | STEP_FAR
SYSTEM    equ STEP_BRANCH | STEP_FAR | STEP_SYSTEM
ATTEMPT   equ STEP_ATTEMPT

default rel

%macro program 1
    %xdefine PROGRAM user_known_%1
    %xdefine PAPER known_paper_%1
    %xdefine PAPER_END known_paper_end_%1
section .text
global PROGRAM
align 16
PROGRAM:
%endmacro

%macro on_paper 0
section .rodata
align 8
global PAPER
PAPER:
%endmacro

; Label of an instruction, and what it is: struct kpaper_step.
%macro step 1-2 0
    dq      PROGRAM %+ %1
    dq      %2
%endmacro

; Instructions that are no branches.
%macro steps 1-*
    %rep %0
    step    %1
    %rotate 1
    %endrep
%endmacro

; How every program ends.
%macro exit 0
.exit:
    xor     edi, edi
.number:
    mov     eax, CALL_EXIT
.call:
    syscall
%endmacro
%macro exited 0
    steps   .exit, .number
    step    .call, SYSTEM
global PAPER_END
PAPER_END:
%endmacro

program empty
    exit
on_paper
    exited

program straight
.nops:
    times 12 nop
    exit
on_paper
    %assign at 0
    %rep 12
    step    .nops + at
    %assign at at + 1
    %endrep
    exited

program loop
.set:
    mov     ecx, 10
.dec:
    dec     ecx
.jnz:
    jnz     .dec
    exit
on_paper
    steps   .set
    %rep 9
    steps   .dec
    step    .jnz, TAKEN
    %endrep
    steps   .dec
    step    .jnz, NOT_TAKEN
    exited

program counted
.set:
    mov     ecx, 5
.loop:
    loop    .loop
.jrcxz:
    jrcxz   .on
.skipped:
    nop
.on:
    inc     ecx
.jrcxz_not:
    jrcxz   .skipped
    exit
on_paper
    steps   .set
    %rep 4
    step    .loop, TAKEN
    %endrep
    step    .loop, NOT_TAKEN
    step    .jrcxz, TAKEN
    steps   .on
    step    .jrcxz_not, NOT_TAKEN
    exited

program conditional
.zero:
    xor     eax, eax
.je:
    je      .jne
.skipped:
    nop
.jne:
    jne     .skipped
.stc:
    stc
.jc:
    jc      .jnc                            ; taken, to the next instruction
.jnc:
    jnc     .cmov                           ; the same, not taken
.cmov:
    cmovnc  eax, ecx                        ; no branch
.cmp:
    cmp     eax, 1
.js:
    js      near .jge
    nop
.jge:
    jge     near .skipped
    exit
on_paper
    steps   .zero
    step    .je, TAKEN
    step    .jne, NOT_TAKEN
    steps   .stc
    step    .jc, TAKEN
    step    .jnc, NOT_TAKEN
    steps   .cmov, .cmp
    step    .js, TAKEN
    step    .jge, NOT_TAKEN
    exited

program calls
.first:
    call    .outer
.push:
    push    rax
.second:
    call    .drop
.third:
    call    .outer
    exit
.outer:
    call    .inner
.middle:
    nop
.outer_return:
    ret
.inner:
    nop
.inner_return:
    ret
.drop:
    ret     8                               ; and takes the argument off the stack
on_paper
    step    .first, CALLED
    step    .outer, CALLED
    steps   .inner
    step    .inner_return, RETURNED
    steps   .middle
    step    .outer_return, RETURNED
    steps   .push
    step    .second, CALLED
    step    .drop, RETURNED
    step    .third, CALLED
    step    .outer, CALLED
    steps   .inner
    step    .inner_return, RETURNED
    steps   .middle
    step    .outer_return, RETURNED
    exited

program indirect
.there:
    lea     rax, [.here]
.jump:
    jmp     rax
.skipped:
    nop
.here:
    lea     rax, [.further]
.store:
    mov     [rsp - 8], rax
.jump_memory:
    jmp     [rsp - 8]
    nop
.further:
    lea     rbx, [.callee]
.call_register:
    call    rbx
.store_callee:
    mov     [rsp - 64], rbx
.call_memory:
    call    [rsp - 64]
    exit
.callee:
    nop
.return:
    ret
on_paper
    steps   .there
    step    .jump, JUMPED
    steps   .here, .store
    step    .jump_memory, JUMPED
    steps   .further
    step    .call_register, CALLED
    steps   .callee
    step    .return, RETURNED
    steps   .store_callee
    step    .call_memory, CALLED
    steps   .callee
    step    .return, RETURNED
    exited

program rep                                 ; each once, whatever RCX says
.room:
    sub     rsp, 512
.to:
    mov     rdi, rsp
.count:
    mov     ecx, 100
.stosb:
    rep stosb
.none:
    rep stosq                               ; RCX is 0
.count_movs:
    mov     ecx, 16
.from:
    mov     rsi, rsp
.movsq:
    rep movsq
.count_scas:
    mov     ecx, 32
.scasb:
    repne scasb                             ; until it finds AL, or to the end
.count_cmps:
    mov     ecx, 8
.cmpsb:
    repe cmpsb
.one:
    stosb                                   ; without REP
    exit
on_paper
    steps   .room, .to, .count, .stosb, .none, .count_movs, .from, .movsq, .count_scas, .scasb, .count_cmps, .cmpsb
    steps   .one
    exited

program locked
.zero:
    xor     eax, eax
.store:
    mov     [rsp - 8], rax
.inc:
    lock inc qword [rsp - 8]
.one:
    mov     ecx, 1
.xadd:
    lock xadd [rsp - 8], rcx
.xchg:
    xchg    [rsp - 8], rcx                  ; locks without the prefix
.cmpxchg:
    lock cmpxchg [rsp - 8], rcx
.failed:
    jne     .decrement                      ; 0 was not there: it stays 1
    nop
.decrement:
    lock dec qword [rsp - 8]
.zero_now:
    jz      .skip
    nop
.skip:
    lock or dword [rsp - 8], 0
    exit
on_paper
    steps   .zero, .store, .inc, .one, .xadd, .xchg, .cmpxchg
    step    .failed, TAKEN
    steps   .decrement
    step    .zero_now, TAKEN
    steps   .skip
    exited

program serialising
.leaf:
    xor     eax, eax
.cpuid:
    cpuid
.rdtsc:
    rdtsc
.lfence:
    lfence
.mfence:
    mfence
.leaf_again:
    xor     eax, eax
.cpuid_again:
    cpuid
    exit
on_paper
    steps   .leaf, .cpuid, .rdtsc, .lfence, .mfence, .leaf_again, .cpuid_again
    exited

program mov_ss                              ; holds interrupts and #DB back until after the next instruction
.read:
    mov     eax, ss
.nop_shadow:
    mov     ss, eax
.nop:
    nop
.jump_shadow:
    mov     ss, eax
.jump:
    jmp     .count
    nop
.count:
    mov     ecx, 3
.to:
    lea     rdi, [rsp - 8]
.rep_shadow:
    mov     ss, eax
.stosb:
    rep stosb
.twice:
    mov     ss, eax
.twice_again:
    mov     ss, eax
.after:
    nop
    exit
on_paper
    steps   .read, .nop_shadow, .nop, .jump_shadow
    step    .jump, JUMPED
    steps   .count, .to, .rep_shadow, .stosb, .twice, .twice_again, .after
    exited

program flags
.push:
    pushfq
.pop:
    pop     rax
.push_again:
    push    rax
.popfq:
    popfq
.after:
    nop
    exit
on_paper
    steps   .push, .pop, .push_again, .popfq, .after
    exited

program system_call                         ; what the kernel does for it is not the program's
.number_stopping:
    mov     eax, CALL_STOPPING
.stopping:
    syscall
.ticks:
    mov     edi, 1
.number_sleep:
    mov     eax, CALL_SLEEP
.sleep:
    syscall                                 ; another thread's turn meanwhile
.number_yield:
    mov     eax, CALL_YIELD
.yield:
    syscall
    exit
on_paper
    steps   .number_stopping
    step    .stopping, SYSTEM
    steps   .ticks, .number_sleep
    step    .sleep, SYSTEM
    steps   .number_yield
    step    .yield, SYSTEM
    exited

program fault                               ; fixed up and tried again
.where:
    lea     rdi, [.caught]
.number_catch:
    mov     eax, CALL_CATCH
.catch:
    syscall
.null:
    xor     ebx, ebx
.read:
    mov     rax, [rbx]                      ; first a page fault, then the word at RSP
.after:
    nop
    exit
.caught:
    mov     rbx, rsp
.retry:
    jmp     .read
on_paper
    steps   .where, .number_catch
    step    .catch, SYSTEM
    steps   .null
    step    .read, ATTEMPT
    steps   .caught
    step    .retry, JUMPED
    steps   .read, .after
    exited

program shadow_fault                        ; MOV SS retires, the instruction behind it faults
.where:
    lea     rdi, [.caught]
.number_catch:
    mov     eax, CALL_CATCH
.catch:
    syscall
.read:
    mov     eax, ss
.shadow:
    mov     ss, eax
.undefined:
    ud2
.skipped:
    nop
.caught:
    nop
    exit
on_paper
    steps   .where, .number_catch
    step    .catch, SYSTEM
    steps   .read, .shadow
    step    .undefined, ATTEMPT
    steps   .caught
    exited

program interrupt                           ; INT n where the gate is not for ring 3: a fault, too
.where:
    lea     rdi, [.caught]
.number_catch:
    mov     eax, CALL_CATCH
.catch:
    syscall
.int:
    int     0x80
.skipped:
    nop
.caught:
    nop
    exit
on_paper
    steps   .where, .number_catch
    step    .catch, SYSTEM
    step    .int, ATTEMPT
    steps   .caught
    exited

program far                                 ; RETF and IRET: QEMU 7.2 cannot do them in ring 3 with SMAP
.to:
    lea     rax, [.there]                   ; programs lie below 4 GiB: KUSER_IMAGE
.offset:
    mov     [rsp - 8], eax
.read:
    mov     ecx, cs
.selector:
    mov     [rsp - 4], ecx
.jump:
    jmp     dword far [rsp - 8]             ; of 16 + 32 bits, which every processor has
.skipped:
    nop
.there:
    nop
    exit
on_paper
    steps   .to, .offset, .read, .selector
    step    .jump, FAR_JUMP
    steps   .there
    exited
