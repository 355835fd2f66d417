; SPDX-License-Identifier: MIT
; The code that the experiments of ds/probe run: instructions at known addresses, in a straight line, then RET.
; ds/probe/probe.h says how many; code.c checks that. Each is a void f(void).

%macro sled 2                               ; name, bytes of alignment
global ds_probe_code_%1, ds_probe_code_%1_end
align %2
ds_probe_code_%1:
%endmacro

section .text

sled nops, 64
    times 1024 nop
ds_probe_code_nops_end:
    ret

sled slow, 64                               ; 0 / 1: quotient and remainder 0 again, each waits for the one before
    xor     eax, eax
    xor     edx, edx
    mov     ecx, 1
ds_probe_code_slow_sled:
global ds_probe_code_slow_sled
    times 512 div rcx
ds_probe_code_slow_end:
    ret

sled mixed, 64                              ; as of `slow`
    xor     eax, eax
    xor     edx, edx
    mov     ecx, 1
ds_probe_code_mixed_sled:
global ds_probe_code_mixed_sled
%rep 64
    div     rcx
    times 7 nop
%endrep
ds_probe_code_mixed_end:
    ret

sled jumps, 64
    times 64 db 0xEB, 0x00                  ; JMP to the next instruction
ds_probe_code_jumps_end:
    times 512 nop
global ds_probe_code_after_jumps_end
ds_probe_code_after_jumps_end:
    ret

sled more_jumps, 64
    times 512 db 0xEB, 0x00
ds_probe_code_more_jumps_end:
    ret

section .note.GNU-stack noalloc noexec nowrite progbits
