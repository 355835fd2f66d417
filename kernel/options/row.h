/* SPDX-License-Identifier: MIT */
/* The inside of the options: rows of the table and their values. */
#pragma once

#include "kernel/lib/rows.h"
#include "kernel/options/options.h"

enum kopt_kind { WORD, WORD8, NUMBER32, NUMBER64, TEXT, OTHER };

/* A value of another kind. */
struct kopt_form {
    const char *values; /* for --help */
    /* Sets *field. False: the value is wrong, `why` says in what, and *field is as it was. */
    bool (*parse)(void *field, const char *value, size_t size, char *why, size_t why_size);
    void (*show)(const void *field, char *text, size_t size);
};

struct kopt_option {
    const char *name;
    const char *standard; /* the default, as one would write it */
    const char *text;     /* for --help */
    void *field;          /* where its value is: in kopt, or with the part of the kernel that the option is about */
    uint16_t size;        /* TEXT: of the field */
    enum kopt_kind kind;
    uint64_t min, max; /* numbers */
    const char *words; /* WORD, WORD8: "a|b|c", the value is its position; TEXT: allowed words, NULL: any text */
    const char *needs; /* what another option must be for this one to have an effect: "name=a|b", where it must not
                        * be that "name!=a"; several with commas; NULL: nothing */
    const struct kopt_form *form; /* OTHER */
};

/* Options beside those of kernel/options/table.c: ROWS_ADD(kopt, ...). Also compiled on the host. */
ROWS(kopt, const struct kopt_option);

/* Values of the option workload=: ROWS_ADD(kopt_workload, ...) by who defines some (kernel/workload/workload.h). */
struct kopt_workload {
    const char *name;
    const char *needs; /* as of an option */
};
ROWS(kopt_workload, const struct kopt_workload);
#define KOPT_WORKLOAD(name, needs)                                                                                     \
    static const struct kopt_workload workload_##name = {#name, needs};                                                \
    ROWS_ADD(kopt_workload, workload_##name)

/* Checks beside those of kernel/options/check.c: of what no single word of a part's own options shows. */
struct kopt_check {
    bool (*fails)(char *error, size_t error_size); /* with one line in `error` */
};
ROWS(kopt_check, const struct kopt_check);
#define KOPT_CHECK(function)                                                                                           \
    static const struct kopt_check check_##function = {function};                                                      \
    ROWS_ADD(kopt_check, check_##function)

/* What a wing that is left out would add: options, values of some, and groups of events. Made from tools/wings. */
struct kopt_absent {
    const char *word; /* "monitor", "workload=probe", "session=process"; "ds.policy.": all that begin so */
    const char *wing;
    const char *with; /* WITH= of `make nucleus`: the wing, those that it needs, and those of this kernel */
};
ROWS(kopt_absent, const struct kopt_absent);

/* Options that are made from another table; they follow all others. */
struct kopt_rows {
    void (*add)(void); /* by kopt_add */
};
ROWS(kopt_rows, const struct kopt_rows);
void kopt_add(const struct kopt_option *option);
/* One more word in "a|b". */
void kopt_add_word(char *words, size_t size, const char *word);

#define KOPT_ROWS_MAX 96u /* further rows are left out: test_options.c fails if there are that many in all wings */

/* Row `i` of the table; NULL past the last. */
const struct kopt_option *kopt_row_get(size_t i);
/* The row of the option of this name, and its number; NULL: there is none. */
const struct kopt_option *kopt_row_find(const char *name, size_t size, size_t *i);
/* Whether this option was given since kopt_defaults. */
bool kopt_given(const char *name);
/* Whether this kernel is built without what `word` is about (struct kopt_absent); `why` says so then. */
bool kopt_is_absent(const char *word, size_t size, char *why, size_t why_size);

/* An option's value as one would write it. */
void kopt_option_show(const struct kopt_option *option, char *text, size_t size);

/* The next part of a value and what is left; false: there is none, *value is NULL. */
bool kopt_part(const char **value, size_t *size, char separator, const char **part, size_t *part_size);
/* Likewise a number; false: it is none, or not in this range. True, too, where none is left: *number stays. */
bool kopt_part_number(const char **value, size_t *size, char separator, uint64_t min, uint64_t max, uint64_t *number);

/* What the workload that is chosen needs of other options, as kopt_option.needs. */
const char *kopt_workload_needs(void);

/* Position of `value` in "a|b|c", or -1; and the word at position `n`, which there is. */
int kopt_word_index(const char *words, const char *value, size_t size);
void kopt_word_show(const char *words, uint32_t n, char *text, size_t size);
