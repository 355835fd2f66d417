; SPDX-License-Identifier: MIT
; RDPMC where a block begins, and in the middle of one.
        %include "guest.inc"

test:   wrmsr_64 IA32_FIXED_CTR0, 0x12345678
        mov ecx, 1 << 30
        try call reads
        say "begins_vector", [vector]
        mov rbx, rax
        say "value", rbx
        mov ecx, 1 << 30
        try rdpmc
        say "middle_vector", [vector]
        ret

reads:  rdpmc
        ret
        image_end
