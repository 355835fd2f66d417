; SPDX-License-Identifier: MIT
; A 32-bit program that has its own counts in it: the macros i, b, l, s and ls count each instruction of the loop as it
; is assembled. Section .expect has them in one line for known.py, of what the program executes to its end:
; "EXPECT instructions N branches N loads N stores N prefetches N".
bits 32
%assign ni 0
%assign nb 0
%assign nl 0
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
%define K 1000
section .data
align 16
farp: dd buf
      dw 0x2b
      dw 0
bnds: dd 0, 100
buf:  times 256 db 0
section .text
global _start
_start:
 mov ebp, K
top:
 i inc eax
 i dec ecx
 i inc edx
 s pusha
 l popa
 s push es
 l pop es
 i aaa
 i daa
 i das
 i aas
 i aam
 i aad
 i db 0xd6 ; salc
 l mov eax, [abs buf]
 s mov [abs buf], eax
 i db 0x82, 0xc0, 0x01 ; add al,1 alias
 i mov eax, 5
 l bound eax, [bnds]
 i xor ebx, ebx
 i mov ebx, buf
 l xlatb
 s enter 16, 0
 l leave
 i xor eax, eax
 i into
 s push dword 5
 l pop eax
 s push word 5
 l pop ax
 i mov ecx, 1
 b loop .n1
.n1:
 i xor ecx, ecx
 b jecxz .n2
 nop
.n2:
 b jcxz .n3
 nop
.n3:
 b jmp short .n4
 nop
.n4:
 b jmp strict near .n5
 nop
.n5:
 i cmp eax, eax
 b je strict near .n6
 nop
.n6:
 b jne strict near .n6
 %assign ni ni+2
 %assign nb nb+2
 %assign ns ns+1
 %assign nl nl+1
 call f
 i mov eax, f2
 %assign ni ni+2
 %assign nb nb+2
 %assign ns ns+1
 %assign nl nl+1
 call eax
 i cld
 i mov ecx, 7
 i mov edi, buf
 s rep stosb
 i mov ecx, 3
 i mov esi, buf
 ls rep movsd
 i xor ecx, ecx
 i rep movsb
 ls movsb
 ls add [buf], eax
 ls lock add [buf], eax
 ls xchg [buf], eax
 i lea eax, [buf]
 i mov ax, 1
 i arpl ax, ax
 i nop
%ifdef LES
 l les edi, [farp]
 l lds edi, [farp]
%endif
 i dec ebp
 b jnz near top
 mov eax, 1
 xor ebx, ebx
 int 0x80
f:
 ret
f2: ret
 global expect
%assign TI ni*K+1+3
%assign TB nb*K+1
%assign TL nl*K
%assign TS ns*K
%defstr sI TI
%defstr sB TB
%defstr sL TL
%defstr sS TS
section .expect
 db "EXPECT instructions ", sI, " branches ", sB, " loads ", sL, " stores ", sS, " prefetches 0", 10
