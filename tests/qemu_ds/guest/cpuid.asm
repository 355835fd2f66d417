; SPDX-License-Identifier: MIT
; CPUID: the model's leaves among QEMU's, and the MSRs that they tell of.
        %include "guest.inc"

IA32_MISC_ENABLE equ 0x1A0

%macro leaf 2-3 0 ; name, number, subleaf
        mov eax, %2
        mov ecx, %3
        cpuid
        mov r8d, eax
        mov r9d, ebx
        mov r10d, ecx
        mov r11d, edx
%strcat a %1, "_eax"
%strcat b %1, "_ebx"
%strcat c %1, "_ecx"
%strcat d %1, "_edx"
        say a, r8
        say b, r9
        say c, r10
        say d, r11
%endmacro

test:   leaf "0", 0
        leaf "1", 1
        leaf "7", 7
        leaf "7_1", 7, 1
        leaf "a", 0x0A
        leaf "10", 0x10
        leaf "15", 0x15
        leaf "16", 0x16
        leaf "1a", 0x1A
        leaf "1c", 0x1C
        leaf "23_0", 0x23
        leaf "23_1", 0x23, 1
        leaf "23_2", 0x23, 2
        leaf "23_3", 0x23, 3
        leaf "23_4", 0x23, 4
        leaf "23_5", 0x23, 5
        leaf "23_6", 0x23, 6
        leaf "d_1", 0x0D, 1
        leaf "80000000", 0x80000000
        leaf "80000001", 0x80000001
        leaf "80000008", 0x80000008
        mov ecx, 0x345
        rdmsr
        say "capabilities", rax
        say "capabilities_high", rdx

        rdmsr_64 IA32_MISC_ENABLE
        say "enable", rax
        and al, ~0x81           ; without fast strings and, read-only, performance monitoring
        or eax, 1 << 11 | 1 << 22 ; BTS unavailable, read-only, and no CPUID above 2
        wrmsr_64 IA32_MISC_ENABLE, rax
        rdmsr_64 IA32_MISC_ENABLE
        say "enable_written", rax
        ret

        image_end
