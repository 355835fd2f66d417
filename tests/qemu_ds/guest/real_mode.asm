; SPDX-License-Identifier: MIT
; 16-bit code in real mode: near branches whose displacement has two bytes, far ones with their address. Says what is
; counted of branches, near taken ones, near calls, returns and far ones. START: what the counters start at.
        bits 16
        org 0
%ifndef START
START   equ 0
%endif
KINDS   equ 5

%macro wrmsr_32 3               ; MSR, high, low
        mov ecx, %1
        mov edx, %2
        mov eax, %3
        wrmsr
%endmacro

start:  cli
        xor ax, ax
        mov ss, ax
        mov sp, 0x7000
        wrmsr_32 0x38F, 0, 0
%assign n 0
%rep KINDS
  %assign code n == 0 ? 0x00C4 : n == 1 ? 0x20C4 : n == 2 ? 0x02C4 : n == 3 ? 0x08C4 : 0x40C4
        wrmsr_32 0x186 + n, 0, 0x430000 + code
        wrmsr_32 0xC1 + n, 0, START
  %assign n n + 1
%endrep
        wrmsr_32 0x38F, 0, (1 << KINDS) - 1
        call strict near routine ; 1: with RET two
        jmp strict near over    ; 3
        nop
over:   xor ax, ax
        jz strict near taken    ; 4
        nop
taken:  jnz strict near taken   ; 5, not taken
        call 0xF000:far_routine ; 6, with RETF 7
        jmp 0xF000:far_over     ; 8
        nop
far_over:
        jmp short last          ; 9
        nop
last:   wrmsr_32 0x38F, 0, 0
%assign n 0
%rep KINDS
        mov ecx, 0xC1 + n
        rdmsr
        sub eax, START
        add al, '0'
        out 0xE9, al
  %assign n n + 1
%endrep
        mov al, 10
        out 0xE9, al
        mov al, 0
        out 0xF4, al
        hlt
routine:
        ret
far_routine:
        retf

        times 0xFFF0 - ($ - $$) db 0
        jmp 0xF000:start
        times 0x10000 - ($ - $$) db 0
