; SPDX-License-Identifier: MIT
; Programs that try what no program may do, for kernel/selftest/hostile.c, which knows how each must end. RDI and RSI
; are their arguments. A program that is not stopped exits with code 0.

%define NOTE(text)
%define NUMBER(name, value) name equ value
%include "kernel/user/ring3/calls.inc"
%include "arch/asm_offsets.inc"

default rel

%macro attempt 1
global user_hostile_%1
align 16
user_hostile_%1:
%endmacro

; An attempt of one instruction.
%macro instruction 2+
attempt %1
    %2
    jmp     survived
%endmacro

; A system call with the two arguments.
%macro calling 2
attempt %1
    mov     eax, %2
    syscall
    jmp     survived
%endmacro

; RFLAGS with some bits more.
%macro set_flags 1
    pushfq
    or      qword [rsp], %1
    popfq
%endmacro

%macro call_yield 0
    mov     eax, CALL_YIELD
    syscall
%endmacro

FLAG_TF   equ 1 << 8
FLAG_IF   equ 1 << 9
FLAG_IOPL equ 3 << 12
FLAG_NT   equ 1 << 14
FLAG_AC   equ 1 << 18

section .text

survived:
    xor     edi, edi
    mov     eax, CALL_EXIT
    syscall

; Waits until the TSC has gone on by RSI, then goes to RBX. Needs no stack.
wait_for_interrupts:
    rdtsc
    shl     rdx, 32
    lea     r8, [rax + rdx]
.again:
    rdtsc
    shl     rdx, 32
    add     rax, rdx
    sub     rax, r8
    cmp     rax, rsi
    jb      .again
    jmp     rbx

; ---- memory at RDI
instruction read, mov rax, [rdi]
instruction write, mov [rdi], rdi
instruction jump, jmp rdi
attempt return                              ; to RDI
    push    rdi
    ret

attempt own_code                            ; what is read and executed is not written
    lea     rdi, [survived]
    mov     byte [rdi], 0x90
    jmp     survived

attempt own_stack                           ; what is written is not executed
    push    -1
    jmp     rsp

attempt overflow                            ; the stack ends somewhere
    call    user_hostile_overflow
    jmp     survived

; ---- instructions
instruction rdmsr, rdmsr
attempt wrmsr                               ; IA32_DS_AREA
    mov     ecx, 0x600
    xor     eax, eax
    xor     edx, edx
    wrmsr
    jmp     survived
instruction in, in al, 0x60
instruction out, out 0xF4, al
attempt outs
    lea     rsi, [survived]
    mov     edx, 0x3F8
    outsb
    jmp     survived
instruction cli, cli
instruction sti, sti
instruction hlt, hlt
instruction lgdt, lgdt [rsp]
instruction lidt, lidt [rsp]
instruction lldt, lldt ax
instruction ltr, ltr ax
instruction lmsw, lmsw ax
instruction clts, clts
instruction read_cr3, mov rax, cr3
instruction write_cr3, mov cr3, rax
instruction write_cr0, mov cr0, rax
instruction write_cr4, mov cr4, rax
instruction write_dr7, mov dr7, rax
instruction invlpg, invlpg [rdi]
instruction wbinvd, wbinvd
instruction swapgs, swapgs
instruction wrgsbase, wrgsbase rdi
instruction rdpmc, rdpmc
instruction sysretq, o64 sysret
instruction sysexit, sysexit
instruction sysenter, sysenter
instruction stac, stac
instruction sgdt, sgdt [rsp - 16]
instruction sidt, sidt [rsp - 16]
instruction xgetbv, xgetbv
instruction avx, vzeroupper
instruction xsave, xsave [rsp - 1024]
instruction ud2, ud2
instruction int3, int3
instruction int_80, int 0x80
instruction int_timer, int 0xE0             ; ARCH_VECTOR_TIMER
instruction int_fault, int 14
attempt divide
    xor     ecx, ecx
    div     ecx
    jmp     survived
attempt divide_x87                          ; unmasked: the next x87 instruction faults
    mov     word [rsp], 0x037F & ~4
    fldcw   [rsp]
    fldz
    fld1
    fdiv    st0, st1
    fwait
    jmp     survived

; ---- segments
%macro load_segment 2
attempt load_%1
    mov     eax, %2
    mov     %1, eax
    jmp     survived
%endmacro
load_segment ss, ARCH_DATA_SELECTOR
load_segment ds, ARCH_DATA_SELECTOR
load_segment gs, ARCH_TSS_SELECTOR

attempt far_return                          ; into the kernel's code segment
    push    ARCH_CODE_SELECTOR
    lea     rax, [survived]
    push    rax
    retfq

%macro push_iret 2                          ; CS, RIP
    mov     rdx, rsp
    push    ARCH_USER_DATA_SELECTOR
    push    rdx
    pushfq
    push    %1
    push    %2
%endmacro

attempt iret_kernel
    lea     rax, [survived]
    push_iret ARCH_CODE_SELECTOR, rax
    iretq

attempt iret                                ; to RDI
    push_iret ARCH_USER_CODE_SELECTOR, rdi
    iretq

; ---- flags. What POPF does not refuse it ignores, or it takes effect; then something must still stop.
attempt flag_tf
    set_flags FLAG_TF
    nop
    nop
    jmp     survived

attempt flag_tf_word
    pushfw
    or      word [rsp], FLAG_TF
    popfw
    nop
    nop
    jmp     survived

attempt flag_tf_iret
    lea     rax, [survived]
    push_iret ARCH_USER_CODE_SELECTOR, rax
    or      qword [rsp + 16], FLAG_TF
    iretq

attempt flag_iopl
    set_flags FLAG_IOPL
    cli
    jmp     survived

attempt flag_if                             ; must not keep interrupts out
    pushfq
    and     qword [rsp], ~FLAG_IF
    popfq
    lea     rbx, [.on]
    jmp     wait_for_interrupts
.on:
    pushfq
    pop     rax
    test    eax, FLAG_IF
    jz      survived
    hlt

attempt flag_nt                             ; neither a call's IRET nor an interrupt's may see it
    set_flags FLAG_NT
    call_yield
    lea     rbx, [.on]
    jmp     wait_for_interrupts
.on:
    lea     rax, [survived]
    push_iret ARCH_USER_CODE_SELECTOR, rax
    iretq                                   ; its own does: #GP

attempt flag_ac                             ; must not open user pages to the kernel: system_calls.c looks
    set_flags FLAG_AC
    call_yield
    lea     rbx, [.on]
    jmp     wait_for_interrupts
.on:
    mov     rax, [rdi]                      ; and here (kernel/user/user.c)
    jmp     survived

attempt flag_df                             ; the kernel's string instructions go upwards all the same
    std
    lea     rdi, [.text]
    mov     esi, .end - .text
    mov     eax, CALL_WRITE
    syscall
    cli
.text:
    db      'the right way round'
.end:

; ---- RSP at RDI: calls and interrupts do not need it, PUSH does
attempt stack
    mov     rsp, rdi
    call_yield
    lea     rbx, [.on]
    jmp     wait_for_interrupts
.on:
    call_yield
    push    rax
    jmp     survived

; ---- MOV SS holds interrupts and #DB back until after the next instruction
%macro mov_ss 0
    mov     edx, ARCH_USER_DATA_SELECTOR
    mov     ss, edx
%endmacro

attempt mov_ss_syscall
    mov     eax, CALL_YIELD
    mov_ss
    syscall
    mov     eax, CALL_COUNT
    mov_ss
    syscall
    jmp     survived

attempt mov_ss_stack                        ; with a stack pointer of RDI's
    mov     eax, CALL_COUNT
    mov     edx, ARCH_USER_DATA_SELECTOR
    mov     ss, edx
    mov     rsp, rdi
    mov_ss
    syscall
    jmp     survived

attempt mov_ss_int3
    mov_ss
    int3
    jmp     survived

attempt mov_ss_int
    mov_ss
    int     0x80
    jmp     survived

attempt mov_ss_hlt
    mov_ss
    hlt
    jmp     survived

; ---- system calls
calling exit, CALL_EXIT
calling sleep, CALL_SLEEP
calling wait, CALL_WAIT
calling set, CALL_SET
calling write_call, CALL_WRITE
calling mark, CALL_MARK
calling spin, CALL_SPIN
attempt catch                               ; after the fault the program goes on at RDI
    mov     eax, CALL_CATCH
    syscall
    ud2
attempt unknown                             ; number RDI
    mov     rax, rdi
    syscall
    jmp     survived

; ---- never comes back by itself
attempt loop
    jmp     user_hostile_loop

attempt sleep_on
    mov     edi, 1
    mov     eax, CALL_SLEEP
    syscall
    jmp     user_hostile_sleep_on
