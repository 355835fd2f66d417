; SPDX-License-Identifier: MIT
; One short program for each class of instructions, and what it counts on paper: instructions, loads, stores, branches,
; taken near branches, conditional branches, far branches. docs/reference/events.md, section 3, has the same numbers.
; START: what counters start at; below 0 they overflow on the way.
        %include "guest.inc"

ALL_LOADS  equ 0x81D0
ALL_STORES equ 0x82D0
%ifndef START
START      equ 0
%endif
COND       equ 0x11C4
KINDS      equ 7
ON         equ 0x430000
COUNTING   equ 5                 ; instructions of the macro that are counted, too: the last is WRMSR
OSXSAVE    equ 1 << 18

; class: name, and the seven numbers. Then the program, which must not need RAX, RCX and RDX to be as before, then
; end_class.
%macro class 8
        %define named %1
        %assign paper %2 | %3 << 8 | %4 << 16 | %5 << 24 | %6 << 32 | %7 << 40 | %8 << 48
  %assign n 0
  %rep KINDS
        wrmsr_64 IA32_PMC0 + n, START
    %assign n n + 1
  %endrep
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, (1 << KINDS) - 1
%endmacro
%macro end_class 0
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        xor ebx, ebx
  %assign n KINDS
  %rep KINDS
    %assign n n - 1
        rdmsr_64 IA32_PMC0 + n
    %if n == 0
        sub rax, COUNTING
    %endif
        sub rax, START
        movzx eax, al
        shl rbx, 8
        or rbx, rax
  %endrep
        say named, rbx
        mov rax, paper
        %strcat named_paper named, "_paper"
        say named_paper, rax
%endmacro

test:   mov rax, cr4
        or eax, OSXSAVE
        mov cr4, rax
        xor ecx, ecx
        xgetbv
        or eax, 7                ; x87, SSE, AVX
        xsetbv
  %assign n 0
  %rep KINDS
    %assign memory n == 1 ? ALL_LOADS : ALL_STORES
    %assign branch n == 3 ? 0x00C4 : n == 4 ? 0x20C4 : n == 5 ? COND : 0x40C4
    %assign code n == 0 ? 0x00C0 : n < 3 ? memory : branch
        wrmsr_64 IA32_PERFEVTSEL0 + n, ON + code
    %assign n n + 1
  %endrep
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0 ; after RESET it is not
        finit
        call clear

        class "none", 0, 0, 0, 0, 0, 0, 0
        end_class

        class "move", 9, 4, 2, 0, 0, 0, 0
        cmovz rbx, [DATA]
        cmovnz rbx, [DATA]
        mov rbx, [DATA]
        movzx ebx, byte [DATA]
        mov [DATA], rbx
        mov byte [DATA], 1
        lea rbx, [DATA]
        nop dword [DATA]
        nop
        end_class

        class "modify", 5, 5, 4, 0, 0, 0, 0
        add [DATA], rbx
        inc dword [DATA]
        neg qword [DATA]
        xadd [DATA], ebx
        cmp [DATA], ebx
        end_class

        class "stack", 10, 4, 6, 0, 0, 0, 0
        push rbx
        push qword [DATA]
        push 5
        pushf
        popf
        pop rbx
        pop qword [DATA]
        push fs
        lea rsp, [rsp + 16]
        nop
        end_class

        mov rbp, rsp
        class "enter", 6, 3, 2, 0, 0, 0, 0
        enter 16, 0
        leave
        enter 16, 3              ; copies two pointers of frames
        leave
        nop
        nop
        end_class

        mov ebx, .routine
        mov qword [DATA + 8], .routine
        class "call", 8, 5, 4, 8, 8, 0, 0
        call .routine
        call rbx
        call [DATA + 8]
        call .routine_8
        end_class

        mov ebx, .jump_1
        mov qword [DATA + 8], .jump_2
        class "jump", 5, 1, 0, 4, 4, 0, 0
        jmp .jump_0
        nop
.jump_0:
        jmp rbx
        nop
.jump_1:
        jmp [DATA + 8]
        nop
.jump_2:
        jmp strict near .jump_3
.jump_3:
        nop
        end_class

        class "conditional", 11, 0, 0, 7, 4, 7, 0
        xor ecx, ecx
        jz .if_0                 ; taken
        nop
.if_0:  jnz .if_1
        jrcxz .if_1              ; taken
        nop
.if_1:  mov ecx, 3
.loop:  loop .loop               ; taken twice
        js strict near .if_2
.if_2:  nop
        nop
        end_class

        mov esi, DATA
        mov edi, DATA + 0x100
        xor eax, eax
        class "string", 5, 4, 2, 0, 0, 0, 0
        movsb
        stosb
        lodsb
        scasb
        cmpsb
        end_class

        mov esi, DATA
        mov edi, DATA + 0x100
        class "rep_string", 12, 4, 2, 0, 0, 0, 0
        mov ecx, 20
        rep movsb
        mov ecx, 20
        rep stosb
        mov ecx, 20
        rep lodsb
        mov ecx, 5
        repe cmpsb
        mov ecx, 5
        repne scasb
        xor ecx, ecx
        rep movsq                ; none
        end_class

        class "locked", 6, 6, 6, 0, 0, 0, 0
        lock add [DATA], ebx
        lock xadd [DATA], ebx
        xchg [DATA], ebx
        lock bts dword [DATA], 3
        lock cmpxchg8b [DATA]
        lock cmpxchg16b [DATA]
        end_class

        class "compare_exchange", 3, 3, 3, 0, 0, 0, 0 ; they write where they do not compare equal, too
        cmpxchg [DATA], ebx
        cmpxchg8b [DATA]
        cmpxchg16b [DATA]
        end_class

        class "bits", 4, 4, 3, 0, 0, 0, 0
        bt dword [DATA], 3
        bts [DATA], ebx
        btr [DATA], ebx
        btc dword [DATA], 1
        end_class

        class "shift", 6, 5, 5, 0, 0, 0, 0
        shl dword [DATA], 1
        xor ecx, ecx
        sar dword [DATA], cl     ; by 0
        shr dword [DATA], 5
        shld [DATA], ebx, 5
        rol byte [DATA], 7
        end_class

        class "x87", 14, 7, 6, 0, 0, 0, 0
        fld qword [DATA]
        fadd dword [DATA]
        fstp qword [DATA]
        fild word [DATA]
        fistp dword [DATA]
        fnstcw [DATA]
        fldcw [DATA]
        fldz
        fnstenv [DATA]
        fldenv [DATA]
        fbstp [DATA]
        fnsave [DATA]
        frstor [DATA]
        ficomp word [DATA]
        end_class

        finit
        call clear
        class "sse", 10, 5, 4, 0, 0, 0, 0
        movaps xmm0, [DATA]
        movups [DATA + 1], xmm0
        addps xmm0, [DATA]
        movss xmm2, [DATA]
        movhps [DATA], xmm0
        cvtsi2sd xmm2, dword [DATA]
        pextrd [DATA], xmm0, 1
        pshufb xmm0, [DATA]
        addps xmm0, xmm2
        movq [DATA], xmm2
        end_class

        mov edi, DATA
        pcmpeqd xmm1, xmm1
        class "non_temporal", 5, 1, 4, 0, 0, 0, 0
        movnti [DATA], ebx
        movntdq [DATA], xmm0
        movntps [DATA], xmm0
        maskmovdqu xmm0, xmm1
        movntdqa xmm0, [DATA]
        end_class

        vpcmpeqd ymm1, ymm1, ymm1
        call clear
        class "avx", 7, 4, 2, 0, 0, 0, 0
        vmovups ymm0, [DATA]
        vpaddd ymm0, ymm0, [DATA]
        vbroadcastss ymm2, [DATA]
        vmovups [DATA + 1], ymm0
        vmaskmovps ymm2, ymm1, [DATA]
        vmaskmovps [DATA], ymm1, ymm2
        vzeroupper
        end_class

        vpxor ymm2, ymm2, ymm2
        vpcmpeqd ymm1, ymm1, ymm1
        mov esi, DATA
        class "gather", 4, 2, 0, 0, 0, 0, 0
        vgatherdps ymm0, [rsi + ymm2], ymm1
        vpcmpeqd ymm1, ymm1, ymm1
        vpgatherqq ymm0, [rsi + ymm2], ymm1
        vzeroupper
        end_class

        mov edi, DATA + 0x400
        class "xsave", 12, 5, 4, 0, 0, 0, 0
        fxsave [rdi]
        fxrstor [rdi]
        stmxcsr [DATA]
        ldmxcsr [DATA + 0x400 + 24]
        mov eax, 7
        xor edx, edx
        xsave [rdi]              ; reads XSTATE_BV
        xsaveopt [rdi]           ; likewise
        xrstor [rdi]
        nop
        nop
        nop
        end_class

        mov esi, DATA
        mov edi, DATA
        vpxor ymm1, ymm1, ymm1   ; no element
        class "masked_out", 4, 1, 0, 0, 0, 0, 0
        vmaskmovps ymm2, ymm1, [DATA]
        vmaskmovps [DATA], ymm1, ymm2
        vgatherdps ymm0, [rsi + ymm2], ymm1
        maskmovdqu xmm0, xmm1
        end_class

        class "cache", 6, 0, 0, 0, 0, 0, 0
        clflush [DATA]
        clflushopt [DATA]
        clwb [DATA]
        mfence
        lfence
        sfence
        end_class

        class "prefetch", 7, 6, 0, 0, 0, 0, 0
        prefetchnta [DATA]
        prefetcht0 [DATA]
        prefetcht1 [DATA]
        prefetcht2 [DATA]
        prefetchw [DATA]
        mov rbx, [DATA]
        db 0x0F, 0x18, 0x20      ; reserved: no operation
        end_class

        mov ebx, RING_0
        mov dword [DATA], RING_0
        mov qword [DATA + 0x10], 0
        mov word [DATA + 0x18], RING_0
        class "segment", 9, 7, 2, 0, 0, 0, 0
        mov ds, ebx              ; a descriptor
        mov es, [DATA]
        mov ss, ebx
        push fs
        pop fs
        lgs ebx, [DATA + 0x14]
        sgdt [DATA + 0x40]
        lgdt [DATA + 0x40]
        verr [DATA]
        end_class

        mov qword [DATA], .far_0
        mov dword [DATA + 8], CODE_64
        mov qword [DATA + 0x10], .far_routine
        mov dword [DATA + 0x18], CODE_64
        class "far", 4, 3, 1, 3, 0, 0, 3
        jmp far qword [DATA]
        nop
.far_0: call far qword [DATA + 0x10]
        nop
        end_class

        mov ebx, .iret
        class "interrupt_return", 8, 1, 5, 1, 0, 0, 1
        mov rax, rsp
        push RING_0
        push rax
        pushf
        push CODE_64
        push rbx
        iretq
.iret:  nop
        end_class

        class "system", 7, 0, 0, 0, 0, 0, 0
        xor eax, eax
        cpuid
        rdtsc
        pause
        xor ecx, ecx
        xgetbv
        db 0xF3, 0x0F, 0x1E, 0xFA ; endbr64
        end_class
        ret
.routine:
        ret
.routine_8:
        ret 0
.far_routine:
        db 0x48, 0xCB            ; retfq

clear:  mov edi, DATA
        xor eax, eax
        mov ecx, 0x2000 / 8
        rep stosq
        ret

        image_end
