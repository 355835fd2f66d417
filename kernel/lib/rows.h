/* SPDX-License-Identifier: MIT */
/*
 * Tables whose rows are spread over the sources. A part adds a row beside what the row is about, and the linker
 * collects the rows: code that goes through a table names no part, and a part that is not linked has no row. ld defines
 * a symbol at both ends of a section whose name is a C identifier (its manual: "Input Section Example",
 * __start_SECNAME); the kernel's own script, arch/kernel.ld, does it for each table. A section holds pointers, as the
 * compiler may align the rows themselves as it likes.
 *
 * Rows come in the order of the files at the linker: nothing may depend on it. They are for what happens once in a run,
 * not for the path of a switch.
 */
#pragma once

/* Declares a table of rows of `type`: in a header that all who add to it include. It may be empty. */
#define ROWS(table, type)                                                                                              \
    extern type *const __start_rows_##table[] __attribute__((weak));                                                   \
    extern type *const __stop_rows_##table[] __attribute__((weak))

/* Adds the variable `row`, at file scope. */
#define ROWS_ADD(table, row)                                                                                           \
    static __typeof__(row) *const row_of_##row __attribute__((used, section("rows_" #table))) = &(row)

/* for: `at` points at the pointer to each row. */
#define ROWS_EACH(table, at)                                                                                           \
    (at) = __start_rows_##table;                                                                                       \
    (at) < __stop_rows_##table;                                                                                        \
    (at)++
