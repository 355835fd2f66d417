; SPDX-License-Identifier: MIT
; Runs a lab's program with the counters, or branch tracing, on. Beside the program they see a few instructions, one of
; them the RET that enters the program. The program's own last RET leads to the address pushed before that.

IA32_DEBUGCTL         equ 0x1D9
IA32_PERF_GLOBAL_CTRL equ 0x38F

global lab_call_stepped
global lab_call_counted
global lab_call_traced

section .text

; void lab_call_stepped(lab_program *program, uint64_t argument): ds/soft/soft.c says what step_ip, step_on and TF do
lab_call_stepped:
    lea     rax, [rel .back]
    push    rax
    push    rdi
    mov     rdi, rsi
    lea     rax, [rel .first]
    mov     [gs:16], rax                    ; arch_cpu.step_ip
    mov     byte [gs:24], 1                 ; arch_cpu.step_on
    pushfq
    or      dword [rsp], 0x100              ; TF: the first #DB comes after .first
    popfq
.first:
    ret                                     ; to the program
.back:
    mov     ecx, IA32_PERF_GLOBAL_CTRL      ; three instructions, as below
    xor     eax, eax
    xor     edx, edx
    mov     byte [gs:24], 0                 ; the #DB after it counts nothing and clears TF
    ret

; void NAME(lab_program *program, uint64_t argument, uint64_t value): the MSR has this value for the program, then 0
%macro call_with 2 ; name, MSR
%1:
    mov     r8, rdx
    lea     rax, [rel .back]
    push    rax
    push    rdi
    mov     rdi, rsi
    mov     ecx, %2
    mov     eax, r8d
    mov     rdx, r8
    shr     rdx, 32
    wrmsr
    ret                                     ; to the program
.back:
    mov     ecx, %2
    xor     eax, eax
    xor     edx, edx
    wrmsr
    ret
%endmacro

    call_with lab_call_counted, IA32_PERF_GLOBAL_CTRL
    call_with lab_call_traced, IA32_DEBUGCTL
