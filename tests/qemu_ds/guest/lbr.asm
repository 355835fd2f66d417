; SPDX-License-Identifier: MIT
; Branch history by MSRs: DEBUGCTL.LBR and MSR_LBR_SELECT, from Haswell to Ice Lake.
        %include "guest.inc"

%macro history 2                ; what the newest %2 entries are called
        wrmsr_64 0x1D9, 0
        rdmsr_64 0x1C9
        mov r12d, eax
%assign age 0
%rep %2
%defstr number age
%strcat name %1, number
        entry_of name, age
%assign age age + 1
%endrep
%endmacro
%macro entry_of 2
%strcat to_name %1, "_to"
        mov eax, r12d
        sub eax, %2
        and eax, r13d
        mov ebx, eax
        lea ecx, [rbx + 0x680]
        rdmsr
        shl rdx, 32
        or rax, rdx
        say %1, rax
        lea ecx, [rbx + 0x6C0]
        rdmsr
        shl rdx, 32
        or rax, rdx
        say to_name, rax
%endmacro

; As much history as there is, which Linux asks the model number for.
test:   rdmsr_64 0x345
        and eax, 0x3F
        mov r13d, 15            ; format 4 and before: 16 entries
        cmp eax, 5
        jb .entries
        mov r13d, 31
.entries:
        say "last", r13

        ; all branches
        wrmsr_64 0x1D9, 1
.jump:  jmp .call
        nop
.call:  call leaf
.after: xor eax, eax
.not:   jnz .call               ; is none
.cond:  jz .indirect
        nop
.indirect:
.zero:  jz .unclear             ; to what follows it
.unclear:
        jnz .onward             ; is none, though RIP is the same
.onward:
        lea rax, [.end]
.ind:   jmp rax
        nop
.end:   history "all_", 7
        say "jump", .jump
        say "call", .call
        say "leaf", leaf
        say "after", .after
        say "cond", .cond
        say "indirect", .indirect
        say "zero", .zero
        say "unclear", .unclear
        say "ind", .ind
        say "end", .end

        ; no conditional ones, no returns
        wrmsr_64 0x1C8, 0x24
        wrmsr_64 0x1D9, 1
.call2: call leaf
        xor eax, eax
        jz .end2
        nop
.end2:  history "some_", 1
        say "call2", .call2

        ; the call stack
        wrmsr_64 0x1C8, 0x3C4
        mov ecx, 32
.clear: lea eax, [rcx + 0x67F]
        push rcx
        mov ecx, eax
        xor eax, eax
        xor edx, edx
        try wrmsr
        pop rcx
        dec ecx
        jnz .clear
        wrmsr_64 0x1D9, 1
        call outer
        say "in_outer", outer.inner_call
        say "in_inner", inner.stop
        say "outer", outer

        ; rings: branches that end in ring 0 are left out
        wrmsr_64 0x1C8, 1
        wrmsr_64 0x1D9, 1
        user .user, .back
.user:  nop
.ujump: jmp .uend
        nop
.uend:  int 0x80
.back:  history "ring_", 2
        say "ujump", .ujump
        say "uend", .uend
        say "user", .user
        ret

leaf:   nop
        ret
outer:  call leaf               ; gone again
        call .next              ; never there
.next:  pop rax
.inner_call:
        call inner
        ret
inner:
.stop:  history "stack_", 3
        ret

        image_end
