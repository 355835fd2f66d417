; SPDX-License-Identifier: MIT
; Runs a lab's program with the counters on. The counters also count a few instructions around the program: the RET that
; enters it, and three behind the program's own last RET, which leads to the address pushed before.

IA32_PERF_GLOBAL_CTRL equ 0x38F

global lab_call_stepped
global lab_call_counted

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

; void lab_call_counted(lab_program *program, uint64_t argument, uint64_t counters)
lab_call_counted:
    mov     r8, rdx
    lea     rax, [rel .back]
    push    rax
    push    rdi
    mov     rdi, rsi
    mov     ecx, IA32_PERF_GLOBAL_CTRL
    mov     eax, r8d
    mov     rdx, r8
    shr     rdx, 32
    wrmsr
    ret                                     ; to the program
.back:
    mov     ecx, IA32_PERF_GLOBAL_CTRL
    xor     eax, eax
    xor     edx, edx
    wrmsr
    ret
