; SPDX-License-Identifier: MIT
; Exceptions and interrupts: 256 stubs and the way to C and back.
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
; GS: the kernel's GS base is in force in ring 0, always. A stub that came from ring 3 (CS.RPL) swaps on entry and
; exit. No entry from ring 0 ever happens with the user's GS base as long as there is no SYSCALL.
;
; NMIs: an NMI is blocked from its delivery to the next IRET. Nothing under kernel_nmi executes one: the handler runs
; with interrupts off and TF clear, and a #GP of arch_rdmsr_safe is resumed without IRET (arch_fixup_resume). So the
; one NMI stack (IST) is never entered twice.

global arch_stubs
global arch_fixup_resume
extern arch_trap
extern arch_debug_function
extern kernel_fault

default rel

STUB_SIZE    equ 16
FRAME_RBX    equ 0x68
FRAME_RBP    equ 0x40
FRAME_RFLAGS equ 0x98
FRAME_RSP    equ 0xA0

; From the stub: vector and error code are on the stack, so CS is 24 bytes up.
%macro enter_frame 0
    test    byte [rsp + 24], 3
    jz      %%kernel
    swapgs
%%kernel:
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

%macro leave_frame 0
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
    test    byte [rsp + 24], 3
    jz      %%kernel
    swapgs
%%kernel:
    add     rsp, 16                         ; vector, error code
    iretq
%endmacro

section .text align=16

; #DB: single-stepping comes here millions of times a second (ds/soft.c), hence no way through arch_trap.
debug_stub:
    push    0
    push    1
    enter_frame
    call    [arch_debug_function]
    test    al, al
    jz      .fault
    leave_frame
.fault:
    mov     rdi, rsp
    call    kernel_fault                    ; does not return
    ud2

c_stub:
    enter_frame
    call    arch_trap
    leave_frame

; One every STUB_SIZE bytes, so that one name and a multiplication find them all (arch/idt.c).
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
    jmp     strict near c_stub
  %endif
    align   STUB_SIZE
  %assign vector vector + 1
%endrep

; _Noreturn void arch_fixup_resume(const struct arch_trap_frame *frame, uint64_t resume)
; Leaves a #GP for the fix-up address `resume` inside the interrupted function, on that function's stack and without
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
