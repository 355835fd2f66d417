; SPDX-License-Identifier: MIT
; Exceptions, interrupts and SYSCALL where there is ring 3: the stubs that take the place of those of arch/trap.asm, and
; the return. arch/trap.inc has a picture of the stack.
;
; GS: C always runs with the kernel's GS base. Until the stub returns, EBX says whether the stub executed SWAPGS. An
; ordinary stub does so if it came from ring 3 (CS.RPL). NMI, #MC, #DF, and a #DB that MOV SS delays until after SYSCALL
; can arrive at any instruction, also in ring 0 with the user's GS base: between an entry and its SWAPGS, or between a
; SWAPGS and its IRET. All these places are in this file, from arch_entry_begin to arch_entry_end. If RIP is there, the
; stub reads the MSR. The kernel's base is negative. The user's is always 0: CR4.FSGSBASE is off, and every segment that
; can be loaded has base 0.
;
; Return to ring 3: only by IRET, also after SYSCALL, because SYSRET can fault in ring 0 with the user's stack. IRET to
; a RIP that is not canonical would fault in ring 0 with the user's GS base, so `leave` checks RIP first. On AMD's
; processors (and in QEMU) a jump to such an address succeeds and only the fetch faults: an interrupt can come in
; between.

global arch_stubs:function
global arch_syscall_entry
global arch_user_enter
extern arch_trap
extern arch_debug_function
extern arch_smap
extern kernel_fault
extern kernel_system_call
extern kernel_user_fault
extern kernel_user_return
%include "arch/trap.inc"

default rel

VECTOR_GP    equ 13
FIRST_IRQ    equ 32
IA32_GS_BASE equ 0xC0000101

; The first steps out of ring 3: the kernel's GS base, no access to user pages (an interrupt keeps the program's AC,
; which would allow it), and the end of backtraces.
%macro from_user 0
    mov     ebx, 1
    swapgs
    cmp     byte [arch_smap], 0
    je      %%no_smap
    clac
%%no_smap:
    xor     ebp, ebp
%endmacro

%macro enter_frame 0
    push_registers
    xor     ebx, ebx
    test    byte [rsp + FRAME_CS], 3
    jz      %%kernel
    from_user
%%kernel:
%endmacro

; For what may hit ring 0 with the user's GS base.
%macro enter_anywhere 0
    push_registers
    xor     ebx, ebx
    test    byte [rsp + FRAME_CS], 3
    jnz     %%swap
    lea     rax, [arch_entry_begin]
    neg     rax
    add     rax, [rsp + FRAME_RIP]
    cmp     rax, arch_entry_end - arch_entry_begin
    jae     %%swapped
    mov     ecx, IA32_GS_BASE
    rdmsr
    test    edx, edx
    js      %%swapped
%%swap:
    from_user
%%swapped:
%endmacro

section .text align=16

arch_entry_begin:

; #DB: as in arch/trap.asm.
debug_stub:
    push    0
    push    1
    enter_anywhere
    call    [arch_debug_function]
    test    al, al
    jnz     leave
fault:                                      ; of the frame at RSP
    test    byte [rsp + FRAME_CS], 3
    jz      .kernel
    ; A fault of a program ends its thread. That happens on the thread's own stack, as this one may be an IST stack.
    mov     rsi, rsp
    mov     rdi, [gs:ARCH_CPU_KERNEL_STACK]
    sub     rdi, FRAME_SIZE
    mov     rsp, rdi
    mov     ecx, FRAME_SIZE / 8
    rep movsq
    mov     rdi, rsp
    call    kernel_user_fault               ; does not return
.kernel:
    mov     rdi, rsp
    call    kernel_fault                    ; does not return
    ud2

anywhere_stub:                              ; NMI, #DF, #MC
    enter_anywhere
    call    arch_trap
    jmp     leave

c_stub:
    enter_frame
    test    ebx, ebx
    jz      .call
    cmp     qword [rsp + FRAME_VECTOR], FIRST_IRQ
    jb      fault
.call:
    call    arch_trap                       ; may come back much later, on another CPU
    test    ebx, ebx
    jz      leave.pop
    mov     rdi, rsp
    call    kernel_user_return

; RSP: the frame. EBX: 1 if it returns to the user's GS base.
leave:
    test    ebx, ebx
    jz      .pop
    mov     rax, [rsp + FRAME_RIP]
    sar     rax, 47
    inc     rax
    cmp     rax, 1                          ; all of its highest bits are equal: it was 0 or -1
    ja      .not_canonical
    swapgs
.pop:
    return_to_frame
.not_canonical:                             ; the #GP the IRET would raise, as the program's own
    mov     qword [rsp + FRAME_VECTOR], VECTOR_GP
    jmp     fault

; SYSCALL comes here: RIP in RCX, RFLAGS in R11, RSP and GS base still the user's, interrupts off, and TF, DF, NT, AC
; clear (FMASK, arch/user/cpu.c). Makes the same frame as an interrupt. The RAX that the C code leaves in it is the
; call's result.
arch_syscall_entry:
    swapgs
    mov     [gs:ARCH_CPU_USER_RSP], rsp
    mov     rsp, [gs:ARCH_CPU_KERNEL_STACK]
    push    ARCH_USER_DATA_SELECTOR
    push    qword [gs:ARCH_CPU_USER_RSP]
    push    r11
    push    ARCH_USER_CODE_SELECTOR
    push    rcx
    push    0
    push    ARCH_NO_VECTOR
    push_registers
    mov     ebx, 1
    xor     ebp, ebp                        ; backtraces end here
    call    kernel_system_call
    jmp     leave

; _Noreturn void arch_user_enter(struct arch_trap_frame *frame)
; A thread's first entry into ring 3; interrupts off.
arch_user_enter:
    mov     rsp, rdi
    mov     ebx, 1
    jmp     leave

    stubs

arch_entry_end:
