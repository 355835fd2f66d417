; SPDX-License-Identifier: MIT
; A program whose every instruction is known: UNIT iterations of one loop for each word of its command line, and no
; library. tests/linux/known.py says what it executes; labels are the instructions' names there.
bits 64
default rel
UNIT  equ 20000
WORDS equ 512

section .text
global _start
_start:
s0: mov ecx, [rsp]          ; argc
s1: imul ecx, ecx, UNIT     ; RCX counts the iterations that are left
s2: xor edx, edx            ; RDX is an index, of WORDS
s3: lea rbx, [buffer]
l0: mov rax, [rbx+rdx*8]
l1: add rsi, rax
l2: test dl, 1
l3: jz l5                   ; taken where the index is even
l4: inc r8                  ; iterations with odd ones
l5: call f0
l6: inc edx
l7: and edx, WORDS-1
l8: dec ecx
l9: jnz l0
e0: mov eax, 60             ; exit
e1: xor edi, edi
e2: syscall

f0: mov [rbx+rdx*8+WORDS*8], rcx
f1: ret

section .bss
alignb 4096
buffer: resq 2*WORDS
