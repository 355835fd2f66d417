; SPDX-License-Identifier: MIT
; Unusual 64-bit encodings. The program has its own counts in it: the macros i, b, l, s, ls and p count each instruction
; of the loop as it is assembled. Section .expect has them in one line for known.py, of what the program executes to its
; end: "EXPECT instructions N branches N loads N stores N prefetches N".
bits 64
default rel
%assign ni 0
%assign nb 0
%assign nl 0
%assign np 0
%assign ns 0
%macro i 1+
 %assign ni ni+1
 %1
%endmacro
%macro b 1+
 %assign ni ni+1
 %assign nb nb+1
 %1
%endmacro
%macro l 1+
 %assign ni ni+1
 %assign nl nl+1
 %1
%endmacro
%macro s 1+
 %assign ni ni+1
 %assign ns ns+1
 %1
%endmacro
%macro ls 1+
 %assign ni ni+1
 %assign nl nl+1
 %assign ns ns+1
 %1
%endmacro
%macro p 1+
 %assign ni ni+1
 %assign np np+1
 %1
%endmacro
%define K 1000
section .data
align 64
buf:  times 256 db 0
fxs:  times 512 db 0
frp:  dd 0
      dw 0x33
 dd 0
 dd 0
 dd 0
align 16
frp32: dd 0
      dw 0x23
section .text
global _start
_start:
 mov ebp, K
top:
 ; data16 prefixes on near branches
 %assign ni ni+2
 %assign nb nb+2
 %assign ns ns+1
 %assign nl nl+1
 db 0x66, 0x66, 0x48, 0xe8
 dd f - ($+4)
 b db 0x2e, 0x74, 0x01 ; hint
 nop
 b db 0x3e, 0x75, 0x01 ; not taken
 i nop
 %assign ni ni+2
 %assign nb nb+2
 %assign ns ns+1
 %assign nl nl+1
 call f2 ; rep ret
 %assign ni ni+2
 %assign nb nb+2
 %assign ns ns+1
 %assign nl nl+1
 db 0xf2 ; bnd
 call f3
 i lea rax, [n3]
 b db 0x3e, 0xff, 0xe0 ; notrack jmp rax
 nop
n3:
 i mov ecx, 1
 b db 0x67, 0xe2, 0x00 ; loop with ecx
 i xor ecx, ecx
 b jecxz n4
 nop
n4:
 b jrcxz n5
 nop
n5:
 s enter 16, 0
 l leave
 i mov ebx, 0
 i lea rbx, [buf]
 l xlatb
 s push fs
 l pop fs
 s pushf
 l popf
 ls lock cmpxchg16b [buf]
 ls lock cmpxchg8b [buf]
 ls xadd [buf], eax
 ls xchg [buf], eax
 i cpuid
 i rdtsc
 i rdtscp
 i mfence
 s fxsave [fxs]
 l fxrstor [fxs]
 i fninit
 s fnstenv [fxs]
 l fldenv [fxs]
 s fstp dword [fxs]
 l fld dword [fxs]
 l movaps xmm0, [buf]
 s movaps [buf], xmm0
 i lea rdi, [buf]
 i pcmpeqd xmm0, xmm0
 s maskmovdqu xmm0, xmm0
 i vzeroupper
 i clflush [buf]
 p prefetcht0 [buf] ; a load on some processors
 i cld
 i lea rsi, [buf]
 i lea rdi, [buf]
 i mov ecx, 3
 ls rep movsq
 i lea rdi, [buf]
 i mov ecx, 40
 s rep stosb
 i xor ecx, ecx
 i rep movsb
 i repne scasb
 i mov ecx, 9
 i lea rsi, [buf]
 l rep lodsb
 i mov ecx, 9
 i lea rdi, [buf]
 i mov al, 0x55
 l repne scasb
 i mov ecx, 9
 i lea rsi, [buf]
 i lea rdi, [buf]
 l repe cmpsb
 s stosb
 l lodsb
 l scasb
 l cmpsb
 ls movsb
 i pause
 i db 0xf3, 0x0f, 0xbd, 0xc0 ; lzcnt
 i xor eax, eax
 i lea rax, [n6]
 s mov dword [frp+4], 0x33
 s mov [frp], eax
 b jmp dword far [frp]
 %assign nl nl+1
n6:
%ifdef FARCALL
 i lea rax, [f5]
 s mov [frp], rax
 s mov word [frp+8], 0x33
 b call far qword [frp] ; not on AMD processors
 %assign nl nl+1
 %assign ns ns+1
 ; retfq in f5
 %assign ni ni+1
 %assign nb nb+1
 %assign nl nl+1
%endif
 ; iretq to ourselves
 i mov rax, rsp
 s push 0x2b
 s push rax
 s pushf
 s push 0x33
 i lea rax, [n7]
 s push rax
 b iretq
 %assign nl nl+1
n7:
 i dec ebp
 b jnz near top
 mov eax, 60
 xor edi, edi
 syscall
f: ret
f2: db 0xf3, 0xc3
f3: db 0xf2, 0xc3
f5: db 0x48, 0xcb
%assign TI ni*K+1+3
%assign TB nb*K+1
%assign TL nl*K
%assign TP np*K
%assign TS ns*K
%defstr sI TI
%defstr sB TB
%defstr sL TL
%defstr sP TP
%defstr sS TS
section .expect
 db "EXPECT instructions ", sI, " branches ", sB, " loads ", sL, " stores ", sS, " prefetches ", sP, 10
