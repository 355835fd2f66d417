; SPDX-License-Identifier: MIT
; Processor 0 changes an instruction that processor 1 executes again and again, as operating systems do: first INT3 in
; place of its first byte, then its other bytes, then the first byte. Behind each store it waits until processor 1 has
; executed a serializing instruction (SDM vol. 3A, "Handling Self- and Cross-Modifying Code"). After the last of them no
; processor may execute INT3 there, or the old instruction. How often one did is said: in how many rounds.
;
; ROUNDS: so many changes. WIDE=1: the first byte is the last of its page, and the store of it also writes the byte
; behind it, into a page of very much code. COUNT=1: instructions are counted on both processors.
        %include "guest.inc"
        %include "both.inc"

PAGES   equ 0x800000            ; the instruction is at the end of the first, or in its middle
CROWD   equ PAGES + 0x1000
%if WIDE
SITE    equ CROWD - 1
%else
SITE    equ PAGES + 0x800
%endif

; Processor 1 has executed CPUID after all that has been stored.
%macro synchronize 0
        inc dword [asked]
        mov eax, [asked]
%%wait: pause
        cmp [answered], eax
        jne %%wait
%endmacro

; store_first: AL as the first byte; WIDE: AH behind it, which is as it was.
%macro store_first 0
%if WIDE
        mov ah, [SITE + 1]
        mov [SITE], ax
%else
        mov [SITE], al
%endif
%endmacro

test:   start_both
        test r9d, r9d
        jnz .ready
        mov rdi, PAGES
        mov ecx, 0x1000
        mov al, 0x90
        rep stosb
        mov ecx, 0x1000
        mov al, 0xC3            ; RET: each is a block
        rep stosb
        mov dword [SITE], 0xBB  ; MOV EBX, 0
        mov word [SITE + 4], 0xC300
        mov rbx, CROWD + 8
.crowd: call rbx
        inc ebx
        cmp ebx, CROWD + 0x1000
        jb .crowd
.ready: barrier
        test r9d, r9d
        jnz .gates
        mov rdi, IDT + 3 * 16   ; both have written the IDT
        mov eax, int3_taken
        mov [rdi], ax
        shr eax, 16
        mov [rdi + 6], ax
.gates: barrier
%if COUNT
        wrmsr_64 IA32_FIXED_CTR_CTRL, 3
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 << 32
%endif
        barrier
        test r9d, r9d
        jnz execute

        mov r14d, ROUNDS
.round: inc dword [generation]  ; odd: it is being changed
        mov al, 0xCC
        store_first
        synchronize
        inc dword [value]
        mov eax, [value]
        mov [SITE + 1], eax
        synchronize
        mov al, 0xBB
        store_first
        synchronize
        inc dword [generation]
        synchronize             ; processor 1 has come through it once, at least
        synchronize
        xor eax, eax
        xchg eax, [wrong]
        mov ebx, eax
        and ebx, 1
        add [stale_int3], rbx
        shr eax, 1
        and eax, 1
        add [stale_value], rax
        dec r14d
        jnz .round
        mov dword [ended], 1
        barrier
        say "int3", [int3]
        say "stale_int3", [stale_int3]
        say "stale_value", [stale_value]
        ret

execute:
        mov r13, SITE
.again: mov esi, [generation]
        mov edi, [value]
        xor ebx, ebx
        call r13
        cmp [generation], esi
        jne .answer
        test esi, 1
        jnz .answer
        cmp ebx, edi
        je .answer
        lock or dword [wrong], 2
.answer:
        mov ebp, [asked]
        cmp ebp, [answered]
        je .end
        xor eax, eax
        cpuid
        mov [answered], ebp
.end:   cmp dword [ended], 0
        je .again
        barrier
        cli
.halt:  hlt
        jmp .halt

; The INT3 is passed over with the rest of the instruction.
int3_taken:
        inc qword [int3]
        test dword [generation], 1
        jnz .rest
        lock or dword [wrong], 1
        mov ebx, [value]        ; counted as INT3 alone
.rest:  add qword [rsp], 4
        iretq

        align 8
arrived: dd 0, 0
int3:   dq 0
stale_int3: dq 0
stale_value: dq 0
generation: dd 0, 0
value:  dd 0, 0
asked:  dd 0, 0
answered: dd 0, 0
wrong:  dd 0, 0                 ; 1: INT3, 2: the old instruction
ended:  dd 0, 0
        image_end
