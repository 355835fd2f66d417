; SPDX-License-Identifier: MIT
; Interrupts and exceptions while the report has the processor (take.c): all on the firmware's stack, which is this
; program's. An exception other than the #GP of a guarded MSR access ends the call that runs (report_take_call).
bits 64
default rel

global report_stubs, report_take_call
global report_pmis, report_nmis, report_strays, report_apic_eoi, report_caught

extern arch_fixups, arch_fixups_end         ; of arch/fixup.asm: rows.ld

GP equ 13
NMI equ 2
PMI equ 0xF5                                ; REPORT_VECTOR
SPURIOUS equ 0xFF                           ; ARCH_VECTOR_SPURIOUS
EFAULT equ 14                               ; kernel/lib/errno.h

section .data align=8
report_pmis     dd 0
report_nmis     dd 0
report_strays   dd 0
                dd 0
report_apic_eoi dq 0                        ; address of the xAPIC's register; 0: x2APIC
report_caught   times 5 dq 0                ; struct report_trap
stack           dq 0                        ; of report_take_call

section .text align=16

; int report_take_call(void (*f)(void *), void *argument): 0, or -EFAULT with report_caught filled
report_take_call:
    push    rbx
    push    rbp
    push    r12
    push    r13
    push    r14
    push    r15
    sub     rsp, 8
    mov     [stack], rsp
    mov     rax, rdi
    mov     rdi, rsi
    call    rax
    xor     eax, eax
leave_call:
    add     rsp, 8
    pop     r15
    pop     r14
    pop     r13
    pop     r12
    pop     rbp
    pop     rbx
    ret

; On the stack: vector, error code, RIP, CS, RFLAGS, RSP, SS.
exception:
    push    rax
    push    rcx
    cmp     qword [rsp + 16], GP
    jne     .unexpected
    lea     rcx, [arch_fixups]
.next:
    lea     rax, [arch_fixups_end]
    cmp     rcx, rax
    je      .unexpected
    mov     rax, [rcx]
    add     rcx, 16
    cmp     rax, [rsp + 32]
    jne     .next
    mov     rax, [rcx - 8]
    mov     [rsp + 32], rax
    pop     rcx
    pop     rax
    add     rsp, 16
    iretq
.unexpected:
    pop     rcx
    lea     rdi, [report_caught]
    mov     rax, [rsp + 8]
    mov     [rdi], rax
    mov     rax, [rsp + 16]
    mov     [rdi + 8], rax
    mov     rax, [rsp + 24]
    mov     [rdi + 16], rax
    mov     rax, cr2
    mov     [rdi + 24], rax
    mov     [rdi + 32], rcx
    mov     rsp, [stack]
    mov     eax, -EFAULT
    jmp     leave_call

pmi:
    inc     dword [report_pmis]
    jmp     end_of_interrupt
stray:
    inc     dword [report_strays]
end_of_interrupt:
    push    rax
    push    rcx
    push    rdx
    mov     rax, [report_apic_eoi]
    test    rax, rax
    jz      .x2apic
    mov     dword [rax], 0
    jmp     .done
.x2apic:
    mov     ecx, 0x80B
    xor     eax, eax
    xor     edx, edx
    wrmsr
.done:
    pop     rdx
    pop     rcx
    pop     rax
    iretq

nmi:
    inc     dword [report_nmis]
    iretq

; Without an EOI, which would be another interrupt's: SDM vol. 3, "Spurious Interrupt".
spurious:
    inc     dword [report_strays]
    iretq

; A stub of 16 bytes for each vector.
align 16
report_stubs:
%assign vector 0
%rep 256
    align 16
  %if vector = NMI
    jmp     nmi
  %elif vector = PMI
    jmp     pmi
  %elif vector = SPURIOUS
    jmp     spurious
  %elif vector >= 32
    jmp     stray
  %else
    %if vector != 8 && (vector < 10 || vector > 14) && vector != 17 && vector != 21 && vector != 29 && vector != 30
    push    0                               ; no error code
    %endif
    push    vector
    jmp     exception
  %endif
  %assign vector vector + 1
%endrep

section .note.GNU-stack noalloc noexec nowrite progbits
