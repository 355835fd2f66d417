; SPDX-License-Identifier: MIT
; What the first processor turns on makes QEMU translate all blocks anew, while the others halt: each time they wake up.
        %include "guest.inc"

test:   wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1
        mov esi, events
.next:  mov eax, [rsi]
        xor edx, edx
        mov ecx, IA32_PERFEVTSEL0
        wrmsr
        mov ecx, 300000
.wait:  dec ecx
        jnz .wait
        add esi, 4
        cmp esi, events_end
        jb .next
        say "done", [done]
        ret
        align 8
done:   dq 1
events: dd 0x4300C4, 0x4200C0, 0x4200C4, 0x4302C4, 0x4202C4, 0x4308C4, 0x4208C4, 0x4311C4, 0x4211C4, 0x4381D0, 0x4281D0
        dd 0x4382D0, 0x4282D0
events_end:
        image_end
