/* SPDX-License-Identifier: MIT */
/* The BPF programs, compiled: GRAB_OBJECT is the file. */
    .section .rodata
    .balign 8
    .global grab_object, grab_object_end
grab_object:
    .incbin GRAB_OBJECT
grab_object_end:
    .section .note.GNU-stack, "", @progbits
