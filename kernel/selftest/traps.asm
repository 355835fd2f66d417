; SPDX-License-Identifier: MIT
; Pieces of code that are hard to single-step (ds/soft/soft.c says why), for kernel/selftest/traps.c, which knows how
; many instructions and branches each retires, without its RET. They are C functions with one argument: RDI, 256 bytes
; to write to.

%macro piece 1
global traps_%1
align 16
traps_%1:
%endmacro

EFLAGS_TF equ 0x100

section .text

piece empty
    ret

piece nops
    times 12 nop
    ret

piece rep_stosb
    mov     ecx, 100
    mov     eax, 0x5A
    rep stosb
    mov     eax, ecx
    ret

piece rep_none
    xor     ecx, ecx
    rep stosq
    ret

piece repne_scasb                           ; the byte is not there
    mov     ecx, 64
    mov     eax, 1
    repne scasb
    ret

piece repe_cmpsb
    mov     rsi, rdi
    mov     ecx, 32
    repe cmpsb
    ret

piece pushfq                                ; RAX: what PUSHF stored
    pushfq
    pop     rax
    ret

piece pushfw
    xor     eax, eax
    pushfw
    pop     ax
    ret

piece popfq
    pushfq
    and     qword [rsp], ~EFLAGS_TF
    popfq
    nop
    nop
    ret

piece cli_sti
    cli
    nop
    sti
    nop
    nop
    ret

piece jnz
    mov     ecx, 10
.again:
    dec     ecx
    jnz     .again
    ret

piece loop
    mov     ecx, 5
.again:
    loop    .again
    ret

piece call
    mov     ecx, 1
    call    .callee
    call    .callee
    jmp     .on
.callee:
    ret
.on:
    jrcxz   .on
    nop
    ret

piece mov_ss
    mov     eax, ss
    mov     ss, eax
    nop
    nop
    ret

piece mov_ss_jmp
    mov     eax, ss
    mov     ss, eax
    jmp     .on
    nop
.on:
    nop
    ret

piece mov_ss_pushfq                         ; RAX: what PUSHF stored
    mov     eax, ss
    mov     ss, eax
    pushfq
    pop     rax
    ret

piece mov_ss_rep
    mov     eax, ss
    mov     ecx, 9
    mov     ss, eax
    rep stosb
    nop
    ret

piece iretq                                 ; to the next instruction, with TF clear in the image
    mov     rdx, rsp
    mov     eax, ss
    push    rax
    push    rdx
    pushfq
    mov     eax, cs
    push    rax
    lea     rax, [rel .on]
    push    rax
    iretq
.on:
    nop
    nop
    ret

piece lock_cpuid
    push    rbx
    xor     eax, eax
    cpuid
    lock inc qword [rdi]
    pop     rbx
    ret
