; SPDX-License-Identifier: MIT
; Runs the code that random_guest.py has made (another image, before this one in the ROM) and says what was counted and
; recorded: a line for each of its pieces in each of its modes. SMP=1: while a second processor fills QEMU's buffer of
; translated code. Nothing interrupts; what CODE faults with goes on at R14.
        %include "guest.inc"
        %include "both.inc"

CODE             equ 0x500000
CODE_SIZE        equ 0x30000
CODE_ROM         equ ROM - CODE_SIZE
NEXT_CODE        equ 0x700000   ; of the second processor
ABSENT           equ 0xA00000   ; nothing is there, nor beyond
NX_CODE          equ 0xC00000
DIRECTORY        equ TABLES + 0x2000
LARGE_PAGE       equ 0x200000
EFER             equ 0xC0000080
IA32_DS_AREA     equ 0x600
IA32_DEBUGCTL    equ 0x1D9
IA32_PEBS_ENABLE equ 0x3F1
PIC_MASKS        equ 0xA121     ; ports of both
DATA_END         equ DATA + 0x10000
DS_AREA          equ 0x4F0000   ; beyond what is written from DATA on
BTS_BUFFER       equ 0x1000000
PEBS_BUFFER      equ 0x1800000
BUFFER_SIZE      equ 0x600000
GP_COUNTERS      equ 8
LASTBRANCH_TOS   equ 0x1C9
LASTBRANCH_FROM  equ 0x680
LASTBRANCH_TO    equ 0x6C0
LBR_DEPTH        equ 32

        struc modes             ; at CODE: how many, then these; then pieces: how many, and where each begins
.debugctl:       resq 1
.global_ctrl:    resq 1
.pebs_enable:    resq 1
.fixed_ctr_ctrl: resq 1
.fixed_ctr0:     resq 1         ; begins with that, and again after each record
.perfevtsel:     resq GP_COUNTERS
        endstruc

test:
%if SMP
        start_both
        barrier
        test r9d, r9d
        jnz churn
%endif
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        mov al, 0xFF
        out PIC_MASKS & 0xFF, al
        out PIC_MASKS >> 8, al
        mov esi, CODE_ROM
        mov edi, CODE
        mov ecx, CODE_SIZE / 8
        rep movsq
        rdmsr_64 EFER
        or eax, 1 << 11         ; NXE
        wrmsr
        mov dword [DIRECTORY + NX_CODE / LARGE_PAGE * 8 + 4], 1 << 31
        mov qword [DIRECTORY + ABSENT / LARGE_PAGE * 8], 0
        mov rax, cr3
        mov cr3, rax
        mov rax, cr4
        mov [control], rax
        mov edi, 0              ; #DE
        mov rsi, fault
        call gate
        mov edi, 6              ; #UD
        call gate
        mov edi, 3
        mov rsi, returns
        call gate
        mov edi, 0x81
        call gate
        mov edi, 13
        mov rsi, fault_with_code
        call gate
        mov edi, 14
        call gate
        mov qword [resume], stray
        mov [resume_rsp], rsp
        say "fault", fault
        say "fault_with_code", fault_with_code
        say "returns", returns
        say "begin", begin
        say "end", end

        mov eax, [CODE]
        imul eax, modes_size
        lea rbx, [CODE + 8 + rax] ; pieces
        mov ecx, [rbx]
.piece: add rbx, 8
        push rcx
        mov ecx, [CODE]
        mov ebp, CODE + 8
.mode:  push rcx
        push rbx
        push rbp
        mov rax, [rbx]
        mov [piece], rax
        call run
        pop rbp
        pop rbx
        call tell
        add ebp, modes_size
        pop rcx
        dec ecx
        jnz .mode
        pop rcx
        dec ecx
        jnz .piece
        ret

stray:  say "stray", [vector]
        say "stray_where", [where]
        ret                     ; to the end

; Vector RDI leads to RSI.
gate:   shl edi, 4
        mov rax, rsi
        mov [IDT + rdi], ax
        shr rax, 16
        mov [IDT + rdi + 6], ax
        ret

fault_with_code:
        add rsp, 8
fault:  mov [rsp], r14
returns:
        iretq

; [piece] once, in mode RBP.
run:    mov edi, DATA
        xor eax, eax
        mov ecx, (DATA_END - DATA) / 8
        rep stosq
        mov qword [DS_AREA + 0x00], BTS_BUFFER
        mov qword [DS_AREA + 0x08], BTS_BUFFER
        mov qword [DS_AREA + 0x10], BTS_BUFFER + BUFFER_SIZE
        mov qword [DS_AREA + 0x18], BTS_BUFFER + BUFFER_SIZE
        mov qword [DS_AREA + 0x20], PEBS_BUFFER
        mov qword [DS_AREA + 0x28], PEBS_BUFFER
        mov qword [DS_AREA + 0x30], PEBS_BUFFER + BUFFER_SIZE
        mov qword [DS_AREA + 0x38], PEBS_BUFFER + BUFFER_SIZE
        mov rax, [rbp + modes.fixed_ctr0]
        mov [DS_AREA + 0x80], rax
        wrmsr_64 IA32_DS_AREA, DS_AREA
        wrmsr_64 IA32_FIXED_CTR0, [rbp + modes.fixed_ctr0]
        wrmsr_64 IA32_FIXED_CTR_CTRL, [rbp + modes.fixed_ctr_ctrl]
        wrmsr_64 IA32_PEBS_ENABLE, [rbp + modes.pebs_enable]
%assign n 0
%rep GP_COUNTERS
        wrmsr_64 IA32_PMC0 + n, 0
        wrmsr_64 IA32_PERFEVTSEL0 + n, [rbp + modes.perfevtsel + n * 8]
%assign n n + 1
%endrep
        mov r8d, DATA
        mov r9d, DATA + 0x1000
        mov r12, [control]
        mov r13d, ABSENT
        wrmsr_64 IA32_DEBUGCTL, [rbp + modes.debugctl]
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, [rbp + modes.global_ctrl]
begin:  call [piece]
end:    mov ecx, IA32_PERF_GLOBAL_CTRL
        xor eax, eax
        xor edx, edx
        wrmsr                   ; the last that counts
        wrmsr_64 IA32_DEBUGCTL, 0
        cld
        ret

; A line: fixed counter 0, the others, ":", branches (of BTS, or branch history, the oldest first), ":", event IPs.
tell:   rdmsr_64 IA32_FIXED_CTR0
        call put
%assign n 0
%rep GP_COUNTERS
        rdmsr_64 IA32_PMC0 + n
        call put
%assign n n + 1
%endrep
        mov al, ':'
        out 0xE9, al
        test byte [rbp + modes.debugctl], 1
        jnz .history
        mov esi, BTS_BUFFER
.branch:
        cmp rsi, [DS_AREA + 0x08]
        jae .branches
        lodsq
        call put
        lodsq
        call put
        lodsq
        jmp .branch
.history:
        rdmsr_64 LASTBRANCH_TOS
        mov esi, eax
        mov edi, LBR_DEPTH
.entry: inc esi
        and esi, LBR_DEPTH - 1
        lea ecx, [rsi + LASTBRANCH_FROM]
        rdmsr
        shl rdx, 32
        or rax, rdx
        call put
        lea ecx, [rsi + LASTBRANCH_TO]
        rdmsr
        shl rdx, 32
        or rax, rdx
        call put
        dec edi
        jnz .entry
.branches:
        mov al, ':'
        out 0xE9, al
        mov esi, PEBS_BUFFER
.record:
        cmp rsi, [DS_AREA + 0x28]
        jae .records
        mov rax, [rsi + 8]
        call put
        movzx eax, word [rsi + 6]
        add rsi, rax
        jmp .record
.records:
        mov al, 10
        out 0xE9, al
        ret

; RAX, at most 48 bits, in hexadecimal, and a blank.
put:    mov rdx, rax
        shl rdx, 16
        mov ecx, 12
.digit: rol rdx, 4
        mov al, dl
        and al, 15
        add al, '0'
        cmp al, '9'
        jbe .out
        add al, 'a' - '0' - 10
.out:   out 0xE9, al
        dec ecx
        jnz .digit
        mov al, ' '
        out 0xE9, al
        ret

%if SMP
; Code that is new each time: a RET, wherever it is.
churn:  mov ebx, NEXT_CODE
.next:  mov byte [rbx], 0xC3
        call rbx
        inc ebx
        cmp ebx, NEXT_CODE + 0x10000
        jb .next
        jmp churn
%endif

        align 8
piece:   dq 0
control: dq 0
arrived: dd 0, 0
        image_end
