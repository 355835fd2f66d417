/* SPDX-License-Identifier: MIT */
/* What labs/00-hello/hello.c is compiled with here: it prints into memory. */
#pragma once

#include <efi.h>
#include <efilib.h>

UINTN report_hello_print(const CHAR16 *format, ...);
BOOLEAN hello(BOOLEAN *virtual);

#ifdef REPORT_HELLO /* in that file */
#define Print    report_hello_print
#define efi_main report_hello_main /* of a program of its own: not called */
#endif
