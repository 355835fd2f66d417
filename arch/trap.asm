; SPDX-License-Identifier: MIT
; Exceptions, interrupts and SYSCALL: 256 stubs, the calls of C, and the return.
;
; The stack when C is called (struct arch_trap_frame, arch/trapframe.h), RSP a multiple of 16:
;
;   +0A8  SS        \
;   +0A0  RSP        |
;   +098  RFLAGS     | pushed by the processor, which first aligns RSP down to 16
;   +090  CS         |
;   +088  RIP       /
;   +080  error code  pushed by the processor for some vectors, by the stub (0) for the others
;   +078  vector      pushed by the stub
;   +070  RAX RBX RCX RDX RSI RDI RBP R8 R9 R10 R11 R12 R13 R14 R15, downwards
;   +000  R15         <- RDI, the argument
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
;
; NMIs: after an NMI the processor blocks further NMIs until the next IRET. Nothing below kernel_nmi executes an IRET:
; the handler runs with interrupts off and TF clear, and a #GP of arch_rdmsr_safe is resumed without IRET
; (arch_fixup_resume). So the one NMI stack (IST) is never entered twice.

global arch_stubs
global arch_fixup_resume
global arch_syscall_entry
global arch_user_enter
extern arch_trap
extern arch_fault
extern arch_debug_function
extern arch_smap
extern kernel_system_call
%include "arch/asm_numbers.inc"

default rel

STUB_SIZE    equ 16
FRAME_RBX    equ 0x68
FRAME_RBP    equ 0x40
FRAME_VECTOR equ 0x78
FRAME_RIP    equ 0x88
FRAME_CS     equ 0x90
FRAME_RFLAGS equ 0x98
FRAME_RSP    equ 0xA0
FRAME_SIZE   equ 0xB0
VECTOR_GP    equ 13
IA32_GS_BASE equ 0xC0000101

; From the stub: vector and error code are on the stack.
%macro push_registers 0
    push    rax
    push    rbx
    push    rcx
    push    rdx
    push    rsi
    push    rdi
    push    rbp
    push    r8
    push    r9
    push    r10
    push    r11
    push    r12
    push    r13
    push    r14
    push    r15
    cld
    mov     rdi, rsp
%endmacro

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

; #DB: single-stepping comes here millions of times a second (ds/soft/soft.c), so it does not go through arch_trap.
debug_stub:
    push    0
    push    1
    enter_anywhere
    call    [arch_debug_function]
    test    al, al
    jnz     leave
fault:                                      ; of the frame at RSP
    test    byte [rsp + FRAME_CS], 3
    jz      .here
    ; A fault of a program ends its thread. That happens on the thread's own stack, as this one may be an IST stack.
    mov     rsi, rsp
    mov     rdi, [gs:ARCH_CPU_KERNEL_STACK]
    sub     rdi, FRAME_SIZE
    mov     rsp, rdi
    mov     ecx, FRAME_SIZE / 8
    rep movsq
.here:
    mov     rdi, rsp
    call    arch_fault                      ; does not return
    ud2

anywhere_stub:                              ; NMI, #DF, #MC
    enter_anywhere
    call    arch_trap
    jmp     leave

c_stub:
    enter_frame
    call    arch_trap

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
    pop     r15
    pop     r14
    pop     r13
    pop     r12
    pop     r11
    pop     r10
    pop     r9
    pop     r8
    pop     rbp
    pop     rdi
    pop     rsi
    pop     rdx
    pop     rcx
    pop     rbx
    pop     rax
    add     rsp, 16                         ; vector, error code
    iretq
.not_canonical:                             ; the #GP the IRET would raise, as the program's own
    mov     qword [rsp + FRAME_VECTOR], VECTOR_GP
    jmp     fault

; SYSCALL comes here: RIP in RCX, RFLAGS in R11, RSP and GS base still the user's, interrupts off, and TF, DF, NT, AC
; clear (FMASK, arch/cpu.c). Makes the same frame as an interrupt. The RAX that the C code leaves in it is the call's
; result.
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

; There is one every STUB_SIZE bytes, so arch/idt.c finds each by a multiplication.
    align   STUB_SIZE
arch_stubs:
%assign vector 0
%rep 256
  %if vector = 1
    jmp     debug_stub
  %else
    ; SDM vol. 3, "Error Code": #DF #TS #NP #SS #GP #PF #AC #CP, and AMD's #VC and #SX
    %if vector <> 8 && (vector < 10 || vector > 14) && vector <> 17 && vector <> 21 && vector <> 29 && vector <> 30
    push    0
    %endif
    push    strict dword vector
    %if vector = 2 || vector = 8 || vector = 18
    jmp     strict near anywhere_stub
    %else
    jmp     strict near c_stub
    %endif
  %endif
    align   STUB_SIZE
  %assign vector vector + 1
%endrep

arch_entry_end:

; _Noreturn void arch_fixup_resume(const struct arch_trap_frame *frame, uint64_t resume)
; Leaves a fault for the fix-up address `resume` inside the interrupted function, on that function's stack and without
; IRET, which would end the blocking of NMIs. Restores what that function must preserve for its caller; the rest is
; scratch to it.
arch_fixup_resume:
    mov     r15, [rdi + 0x00]
    mov     r14, [rdi + 0x08]
    mov     r13, [rdi + 0x10]
    mov     r12, [rdi + 0x18]
    mov     rbp, [rdi + FRAME_RBP]
    mov     rbx, [rdi + FRAME_RBX]
    mov     rax, [rdi + FRAME_RFLAGS]
    mov     rsp, [rdi + FRAME_RSP]
    push    rax
    popfq
    jmp     rsi
