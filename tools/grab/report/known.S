/* SPDX-License-Identifier: MIT */
/*
 * void grab_known(uint64_t iterations, uint64_t buffer[2]): a loop whose every instruction is known (known.h). RCX
 * holds how many iterations are left, this one included, so RIP and RCX of a record make an exact instruction of it.
 */
    .section .text
    .globl grab_known, grab_known_at
    .type grab_known, @function
grab_known:
    mov %rdi, %rcx
    xor %r8d, %r8d
    xor %r9d, %r9d
k0: mov (%rsi), %rax
k1: add %rax, %r8
k2: test $1, %cl
k3: jz k5                   /* taken where RCX is even */
k4: inc %r9
k5: call f0
k6: add %r9, %r8
k7: dec %rcx
k8: jnz k0
    ret
f0: mov %rcx, 8(%rsi)
f1: ret
    .size grab_known, . - grab_known

    .section .data.rel.ro, "aw"
    .balign 8
grab_known_at:
    .quad k0, k1, k2, k3, k4, k5, k6, k7, k8, f0, f1

    .section .note.GNU-stack, "", @progbits
