; SPDX-License-Identifier: MIT
; Architectural PEBS: two records of every group in physical memory that no page leads to, the second across two pages,
; one of them in compatibility mode; one that no memory is there for; RDPMC in ring 3.
        %include "guest.inc"

IA32_PEBS_BASE  equ 0x3F4
IA32_PEBS_INDEX equ 0x3F5
GLOBAL_STATUS   equ 0x38E
GLOBAL_OVF_CTRL equ 0x390
LBR_CTL         equ 0x14CE
GP0_CTR         equ 0x1900
GP0_CFG_A       equ 0x1901
GP0_CFG_C       equ 0x1903
FX0_CTR         equ 0x1980
FX0_CFG_C       equ 0x1983
BUFFER          equ 0xE00000    ; physical
PAGE_ENTRY      equ TABLES + 0x2000 + BUFFER / 0x200000 * 8
NOWHERE         equ 0x80000000  ; physical, likewise
LARGE           equ 0x87
FIRST           equ 0xC80       ; IA32_PEBS_INDEX.WR in the beginning
PERIOD          equ 12
CNTR_ALLOW      equ 1 << 35
GROUPS          equ 1 << 63 | 1 << 62 | 1 << 61 | 1 << 49 | 1 << 40 | 7 << 35 ; EN AUX GPR XMM LBR CNTR

test:   wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        mov dword [PAGE_ENTRY], 0
        invlpg [BUFFER]
        wrmsr_64 IA32_PEBS_BASE, BUFFER | 1 ; two pages
        wrmsr_64 IA32_PEBS_INDEX, 0x10000 << 32 | 1 << 32 | FIRST
        rdmsr_64 IA32_PEBS_BASE
        say "base", rax
        mov rax, 0x0123456789ABCDEF
        movq xmm7, rax
        pslldq xmm7, 8
        wrmsr_64 LBR_CTL, 0x7F0003
        wrmsr_64 GP0_CFG_A, 0x4300C4 ; branches
        wrmsr_64 GP0_CFG_C, CNTR_ALLOW
        wrmsr_64 GP0_CTR, 0x1000
        rdmsr_64 IA32_PMC0      ; by its other name
        say "other_name", rax
        wrmsr_64 FX0_CFG_C, GROUPS | (-PERIOD & 0xFFFFFFFF)
        wrmsr_64 FX0_CTR, -PERIOD & 0xFFFFFFFFFFFF
        wrmsr_64 IA32_FIXED_CTR_CTRL, 3

        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 << 32 | 1
        mov r9d, 0x999          ; 1
        jmp over                ; 2
over:   xor ebx, ebx            ; 3
        cmp ebx, 1              ; 4
        times 4 nop             ; 8
        nop                     ; 9
        mov r8, [rsp]           ; 10
        nop                     ; 11
event:  sub ebx, 1              ; 12: CF, PF, AF, SF
next:   jmp far dword [pointer]     ; 13
        bits 32
compatibility:
        times 9 nop             ; 22
        nop                     ; 23
event_32:
        nop                     ; 24
next_32:
        jmp CODE_64:back
        bits 64
back:   wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0

        rdmsr_64 IA32_PEBS_INDEX
        say "index", rax
        rdmsr_64 GLOBAL_STATUS
        say "status", rax
        mov rbp, rsp
        say "rsp", rbp
        lea rax, [over - 2]
        say "jump", rax
        mov dword [PAGE_ENTRY], BUFFER + LARGE
        invlpg [BUFFER]
        mov r12d, FIRST
.words: mov rax, [BUFFER + r12]
        mov [saying], rax
        mov rdi, name + 1       ; "r0c80=..."
        mov edx, r12d
        shl edx, 16
        mov ecx, 4
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
        call say_line
        add r12d, 8
        cmp r12d, 0x1400
        jb .words
        say "over", over
        say "event", event
        say "next", next
        say "compatibility", compatibility
        say "event_32", event_32
        say "next_32", next_32

        ; the threshold sets bit 54; without LVTPC no interrupt
        wrmsr_64 IA32_PEBS_INDEX, 16 << 32 | 1 << 32
        wrmsr_64 FX0_CFG_C, 1 << 63 | (-PERIOD & 0xFFFFFFFF)
        wrmsr_64 FX0_CTR, -PERIOD & 0xFFFFFFFFFFFF
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 << 32
        times PERIOD nop
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        rdmsr_64 GLOBAL_STATUS
        say "status_threshold", rax
        wrmsr_64 GLOBAL_OVF_CTRL, 1 << 54
        rdmsr_64 GLOBAL_STATUS
        say "status_cleared", rax
        rdmsr_64 IA32_PEBS_INDEX
        say "index_basic", rax

        ; nothing there
        wrmsr_64 IA32_PEBS_BASE, NOWHERE
        wrmsr_64 IA32_PEBS_INDEX, 0x800 << 32 | 1 << 32
        wrmsr_64 FX0_CTR, -PERIOD & 0xFFFFFFFFFFFF
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 << 32
        times PERIOD nop
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        rdmsr_64 IA32_PEBS_INDEX
        say "index_nowhere", rax

        wrmsr_64 GP0_CFG_A, 0x4300C4
        wrmsr_64 GP0_CTR, 0x123456
        wrmsr_64 FX0_CTR, 0x654321
        wrmsr_64 IA32_PERFEVTSEL0 + 1, 0x4300C4
        wrmsr_64 IA32_PMC0 + 1, 0x777
        mov rax, cr4
        or eax, 0x100           ; PCE
        mov cr4, rax
        mov ecx, 0
        user at_3, .gp_0
.gp_0:  say "vector_cpl_3", [vector]
        say "gp_0_cpl_3", rbx
        mov ecx, 1
        user at_3, .gp_1
.gp_1:  say "gp_1_cpl_3", rbx
        mov ecx, 0x40000000
        user at_3, .fixed
.fixed: say "fixed_cpl_3", rbx
        ret

at_3:   mov rax, -1
        rdpmc
        mov rbx, rax
        int 0x80

        align 8
pointer: dd compatibility, CODE_32
name:   db "r0000=", 0

        image_end
