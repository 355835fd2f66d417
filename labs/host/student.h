/* SPDX-License-Identifier: MIT */
/* printf, puts and putchar for the student's code (labs/fence.py): each line begins with "| ", so that it is no verdict
 * of the check's. */
#pragma once

int lab_student_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int lab_student_puts(const char *text);
int lab_student_putchar(int c);

/* Ends the line that the student's code has begun. */
void lab_student_end(void);
