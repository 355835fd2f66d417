; SPDX-License-Identifier: MIT
; Which bits of which MSRs cannot be written: each alone, and none. And all of that at CPL 3.
        %include "guest.inc"

test:   mov r12, msrs
.msr:   mov r13d, [r12]
        test r13d, r13d
        jz .end
        xor r14d, r14d          ; bits that fault
        mov r15d, 1             ; the bit
.bit:   mov rax, r15
        call write
        jne .next
        or r14, r15
.next:  shl r15, 1
        jnz .bit
        mov rax, r14
        mov r8d, 'w'
        call tell
        xor eax, eax
        call write              ; no bit at all
        sete al
        movzx eax, al
        mov r8d, 'z'
        call tell
        mov ecx, r13d
        try rdmsr
        cmp qword [vector], 13
        sete al
        movzx eax, al
        mov r8d, 'r'
        call tell
        add r12, 4
        jmp .msr
.end:   say "wrong", [wrong]

        mov ecx, 0x600          ; which is there
        xor eax, eax
        xor edx, edx
        user .wrmsr, .wrote
.wrmsr: wrmsr
        int 0x80
.wrote: say "wrmsr_cpl_3", [vector]
        mov ecx, 0x600
        user .rdmsr, .read
.rdmsr: rdmsr
        int 0x80
.read:  say "rdmsr_cpl_3", [vector]
        ret

; Writes RAX to MSR R13 and, if that did not fault, 0. ZF: it faulted. Counts in [wrong] what a fault leaves otherwise
; than it was, and what is no #GP(0) at the WRMSR.
write:  mov rdx, rax
        mov rbx, rax
        shr rdx, 32
        mov rsi, rdx
        mov ecx, r13d
        try wrmsr
        cmp qword [vector], 0x100
        jne .faulted
        mov ecx, r13d
        xor eax, eax
        xor edx, edx
        try wrmsr
        cmp qword [vector], 13  ; 0 may be none of its values
        jmp .ok
.faulted:
        cmp rdx, rsi
        jne .wrong
        mov eax, ecx
        cmp rax, r13
        jne .wrong
        cmp qword [vector], 13
        jne .wrong
        cmp qword [error], 0
        jne .wrong
        mov rax, [where]
        cmp word [rax], 0x300F  ; WRMSR
        jne .wrong
        cmp eax, eax
        ret
.wrong: inc qword [wrong]
        cmp eax, eax
        ret
.ok:    or eax, 1               ; ZF = 0
        ret

; "w_000001d9=..." of R8, R13 and RAX
tell:   mov [saying], rax
        mov [name], r8b
        mov rdi, name + 2
        mov edx, r13d
        mov ecx, 8
.digit: rol edx, 4
        mov al, dl
        and al, 15
        add al, '0'
        cmp al, '9'
        jbe .put
        add al, 'a' - '0' - 10
.put:   stosb
        loop .digit
        mov rax, name
        jmp say_line

msrs:   dd 0xC1, 0xC5, 0x186, 0x18A, 0x309, 0x30C, 0x329, 0x345, 0x38D, 0x38E, 0x38F, 0x390, 0x391, 0x392, 0x3F1
        dd 0x1A6, 0x1A7
        dd 0x3F2, 0x3F6, 0x3F7, 0x4C1, 0x600, 0x1C8, 0x1C9, 0x1D9, 0x40, 0x680, 0x69F, 0x6C0, 0xDC0, 0x14CE, 0x14CF
        dd 0x1200, 0x1500, 0x1600, 0
name:   db "w_00000000=", 0
wrong:  dq 0

        image_end
