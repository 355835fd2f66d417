/* SPDX-License-Identifier: MIT */
/*
 * The inside of the monitor: what a command gets, and the machine as commands see it. All files of this room that
 * include no header of the kernel's but this one are also compiled on the host, where tests and a fuzzer give them a
 * machine of their own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kmonitor_place { KMONITOR_BEFORE_RUN, KMONITOR_AT_BREAK, KMONITOR_AFTER_PANIC };

/* What is in use of the Debug Store on a CPU. */
struct kmonitor_ds {
    uint64_t area; /* IA32_DS_AREA; 0: none is set */
    uint32_t area_bytes, record_bytes;
    unsigned format;
    /* With architectural PEBS, format 15: IA32_PEBS_BASE (0: no buffer is set) and IA32_PEBS_INDEX, or as far as the
     * driver knows them; and where the kernel sees that buffer. */
    uint64_t base, index, buffer;
    bool bts; /* it has a BTS buffer */
    uint8_t gp_counters, gp_width, fixed_counters, fixed_width;
};

/* All functions return 0 or a negative error, unless they say otherwise. */
struct kmonitor_machine {
    uint32_t cpus;
    const char *backend; /* "hw", "soft" or "off" */
    /* -EFAULT: #GP; -EBUSY: the CPU is held, only its memory can be looked at. *model: the model has answered. */
    int (*rdmsr)(uint32_t cpu, uint32_t msr, uint64_t *value, bool *model);
    int (*wrmsr)(uint32_t cpu, uint32_t msr, uint64_t value, bool *model);
    int (*lvtpc)(uint32_t cpu, uint32_t *value, bool *model);
    /* -EFAULT: not mapped for the kernel, or read-only. Nothing is done in part. */
    int (*read)(uint64_t at, void *to, size_t size);
    int (*write)(uint64_t at, const void *from, size_t size);
    int (*ds)(uint32_t cpu, struct kmonitor_ds *ds); /* -ENODEV: there is none */
    /* The address of a symbol: -ENOENT; the symbol at an address: false. */
    int (*find)(const char *name, uint64_t *at);
    bool (*name)(uint64_t at, const char **name, uint64_t *offset);
    void (*print)(const char *text);
};

struct kmonitor;

/* What `run` of a command returns beside 0. */
enum { KMONITOR_USAGE = -1, KMONITOR_GO = 1, KMONITOR_QUIT = 2 };

struct kmonitor_command {
    const char *name;
    const char *arguments; /* as the usage line has them; "": none */
    const char *help;
    unsigned least, most; /* words behind the name */
    int (*run)(struct kmonitor *m, unsigned words, char **word);
    const char *choices; /* what completes its first word: "a|b", "MSR", "NAME", "COMMAND"; NULL: nothing */
};

#define KMONITOR_SEEN 128u

struct kmonitor {
    const struct kmonitor_machine *machine;
    const struct kmonitor_command *const *groups; /* tables of commands, each with an end row; then NULL */
    enum kmonitor_place place;
    uint32_t here; /* the CPU that runs the monitor */
    uint32_t cpu;  /* the CPU that commands are about */
    uint32_t seen; /* values shown so far, each key once; the last KMONITOR_SEEN of them, for the marks: */
    struct {
        uint32_t key;
        uint64_t value;
    } shown[KMONITOR_SEEN];
};

/* ---- kernel/monitor/words.c: text in and out */
#define KMONITOR_WORDS 12u
void kmonitor_print(const struct kmonitor *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *kmonitor_plural(uint64_t n); /* "s", or "" for 1 */
/* The same for a message: without newline, in as many lines as it needs. */
void kmonitor_say(const struct kmonitor *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints text in lines of 79 columns, each behind `indent` blanks. */
void kmonitor_wrap(const struct kmonitor *m, unsigned indent, const char *text);
/* Splits a line at its blanks, in place. Returns the number of words, at most KMONITOR_WORDS + 1. */
unsigned kmonitor_split(char *line, char *word[KMONITOR_WORDS + 1]);
bool kmonitor_same(const char *a, const char *b); /* in any case of letters */
/* A number as knumber_parse reads it; else one line says that it is none. */
bool kmonitor_number(const struct kmonitor *m, const char *word, uint64_t most, uint64_t *value);
/* A number, a symbol, or SYMBOL+NUMBER. */
bool kmonitor_address(const struct kmonitor *m, const char *word, uint64_t *at);
/* "name+0x12", or the bare address. */
const char *kmonitor_place_of(const struct kmonitor *m, uint64_t at, char *text, size_t size);
/* '*' if what has this key was shown before with another value, else ' '. `key`: KMONITOR_KEY. */
char kmonitor_mark(struct kmonitor *m, uint32_t key, uint64_t value);
#define KMONITOR_KEY(kind, cpu, n) ((uint32_t)(kind) << 24 | ((cpu)&0xFFu) << 16 | ((n)&0xFFFFu))
enum { KMONITOR_KEY_MSR = 1, KMONITOR_KEY_AREA, KMONITOR_KEY_LVTPC, KMONITOR_KEY_STEP };

/* ---- kernel/monitor/names.c: registers and fields */
enum kmonitor_kind {
    KMONITOR_MSR,
    KMONITOR_FIELD,  /* of the MSR before it */
    KMONITOR_APIC,   /* LVTPC */
    KMONITOR_AREA,   /* a field of the DS area */
    KMONITOR_RECORD, /* a field of a PEBS or BTS record */
};
struct kmonitor_name {
    const char *name;
    enum kmonitor_kind kind;
    uint32_t number; /* of the MSR; offset in the DS area */
    uint32_t count;  /* so many of them follow each other: the last 0 in the name is the first one's number */
    uint32_t step;   /* so far apart; 0: one after another */
    bool counters;   /* bits 0 to 31 and 32 to 47 stand for counters */
    uint64_t mask;   /* of the field */
    const char *text, *section;
};
extern const struct kmonitor_name kmonitor_names[];
extern const size_t kmonitor_names_count;
/* Which of the row's MSRs has this number, from 0; -1: none. */
int kmonitor_msr_index(const struct kmonitor_name *row, uint32_t number);
/* The row of an MSR; NULL: it has none. */
const struct kmonitor_name *kmonitor_msr(uint32_t number);
/* The MSR of this name, as in IA32_PMC3; false: there is none. */
bool kmonitor_msr_named(const char *name, uint32_t *number);
/* "IA32_PMC3", or "MSR 123H". */
const char *kmonitor_msr_name(uint32_t number, char *text, size_t size);
/* Prints name and value, and behind it what its bits mean. `note`: behind the value; "" or "(model)". */
void kmonitor_show_msr(struct kmonitor *m, uint32_t number, uint64_t value, const char *note);
void kmonitor_show_lvtpc(struct kmonitor *m, uint32_t value, const char *note);

/* ---- kernel/monitor/batch.c: the `used` bytes of a batch. */
void kmonitor_show_batch(struct kmonitor *m, const uint8_t *bytes, uint32_t used);
/* Windows' names of enum kthread_state and enum kwait_reason. */
const char *kmonitor_state(uint32_t state);
const char *kmonitor_reason(uint32_t reason);

/* ---- kernel/monitor/command.c */
/* Runs one line. 0, KMONITOR_GO or KMONITOR_QUIT; errors are printed. The line is changed. */
int kmonitor_run(struct kmonitor *m, char *line);
/* For struct kmonitor_line; the context is the struct kmonitor. */
const char *kmonitor_choice(void *context, const char *line, size_t size, unsigned i);

/* ---- commands that need nothing but struct kmonitor_machine */
extern const struct kmonitor_command kmonitor_general[];   /* command.c */
extern const struct kmonitor_command kmonitor_registers[]; /* registers.c */
extern const struct kmonitor_command kmonitor_areas[];     /* area.c */
extern const struct kmonitor_command kmonitor_records[];   /* records.c */
