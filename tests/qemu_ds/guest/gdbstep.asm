; SPDX-License-Identifier: MIT
; A bare guest (firmware image, as tests/qemu_ds/guest/*.asm are): fixed counter 0 counts a loop of known length.
; Prints to port E9H the count of instructions between the two WRMSR, in hex.
bits 16
org 0xF0000
start:
 cli
 mov ebx, 0
 o32 lgdt [cs:gdtr - start]
 mov eax, cr0
 or al, 1
 mov cr0, eax
 jmp dword 8:pm
bits 32
pm:
 mov ax, 16
 mov ds, ax
 mov es, ax
 mov ss, ax
 mov esp, 0x8000
 ; fixed counter 0: ring 0
 mov ecx, 0x38D
 mov eax, 1
 xor edx, edx
 wrmsr
 mov ecx, 0x309
 xor eax, eax
 wrmsr
 mov ecx, 0x38F
 mov edx, 1
 xor eax, eax
 wrmsr
go:
 mov esi, N
.l:
 mov [0x7000], esi
 add edi, 3
 xor edi, esi
 cmp edi, 5
 je .s
 nop
.s:
 dec esi
 jnz .l
done:
 mov ecx, 0x38F
 xor edx, edx
 xor eax, eax
 wrmsr
 mov ecx, 0x309
 rdmsr
 call hex
 mov al, 10
 out 0xE9, al
 xor eax, eax
 out 0xF4, al
 hlt
hex:
 mov ebx, eax
 mov ecx, 8
.h:
 rol ebx, 4
 mov al, bl
 and al, 15
 add al, '0'
 cmp al, '9'
 jbe .o
 add al, 7
.o:
 out 0xE9, al
 dec ecx
 jnz .h
 ret
align 8
gdt: dq 0
 dw 0xFFFF, 0
 db 0, 0x9A, 0xCF, 0
 dw 0xFFFF, 0
 db 0, 0x92, 0xCF, 0
gdtr: dw 23
 dd gdt
times 0xFFF0 - ($ - $$) db 0
bits 16
 jmp 0xF000:0
 times 0x10000 - ($ - $$) db 0
