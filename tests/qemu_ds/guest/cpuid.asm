; SPDX-License-Identifier: MIT
; CPUID: the model's leaves among QEMU's, and the MSRs that they tell of.
        %include "guest.inc"

%macro leaf 2
        mov eax, %2
        xor ecx, ecx
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
        leaf "a", 0x0A
        leaf "15", 0x15
        leaf "1c", 0x1C
        mov ecx, 0x345
        rdmsr
        say "capabilities", rax
        say "capabilities_high", rdx
        ret

        image_end
