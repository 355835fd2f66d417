/* SPDX-License-Identifier: MIT */
/*
 * What a user of the playground chooses, as one line of text: KEY=VALUE, with ';' between them. It is the part of the
 * page's address after '#', so a link holds all of it. The page and the native program both read it with this parser.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ds/model/model.h"
#include "tools/playground/program.h"

#define PLAY_COUNTERS_MAX (DS_MODEL_GP_MAX + DS_MODEL_FIXED_MAX)
#define PLAY_BUFFER_BYTES 0x3000u /* of memory for PEBS records */
#define PLAY_BTS_RECORDS  32u
#define PLAY_STEPS        4096u /* a run is not longer */
#define PLAY_TEXT         2048u /* of settings, with the NUL; all of them at once take less */

enum play_handler {
    PLAY_HANDLER_DRAIN,  /* all that a driver does */
    PLAY_HANDLER_FORGET, /* the same, but LVTPC is not written again */
    PLAY_HANDLER_NONE,   /* returns at once */
};

struct play_counter {
    bool used;
    bool plain;     /* without PEBS: an overflow interrupts */
    bool interrupt; /* PEBS, and INT or PMI set as well */
    bool user, kernel;
    uint8_t event; /* enum ds_model_event; fixed counters have their own */
    uint32_t period;
};

struct play_settings {
    const struct ds_model_preset *preset;
    struct ds_model_policy policy;
    struct play_counter counter[PLAY_COUNTERS_MAX]; /* general-purpose ones, then fixed ones */
    uint8_t groups;                                 /* MSR_PEBS_DATA_CFG[5:0] */
    uint32_t lbr;                                   /* entries of branch history */
    uint32_t records, threshold, extra; /* room in records; threshold in records, 0: none; bytes added to the maximum */
    uint32_t size;                   /* architectural PEBS in place of `records`: the buffer has 4096 << size bytes */
    uint32_t bts, bts_threshold;     /* room in branch records, 0: no BTS; threshold, 0: none */
    uint32_t btint, bts_off;         /* bts_off: 1 CPL 0, 2 the others */
    uint32_t masked, delay, handler; /* LVTPC at the start; instructions until a PMI is taken; enum play_handler */
    uint32_t freeze;                 /* 1 FREEZE_PERFMON_ON_PMI, 2 FREEZE_LBRS_ON_PMI, 3 both */
    uint32_t unmapped;               /* the PEBS buffer is not mapped */
    uint32_t step;                   /* where the page shows it */
    uint32_t scene, stop;            /* of the page's guided scenes; 0: none */
    struct play_program program;
};

/* 0; -EINVAL: `error` says what is wrong with the text, and what would be right, in one line. */
int play_settings_read(struct play_settings *settings, const char *text, char *error, size_t size);

/* The same settings as the shortest text, without what is the default; `step`: is shown now. */
void play_settings_write(const struct play_settings *settings, uint32_t step, char *text, size_t size);

/* "IA32_PMC0", "IA32_FIXED_CTR0", by the number as in IA32_PERF_GLOBAL_STATUS. */
const char *play_counter_name(unsigned number);
/* The number of counter[i]. */
static inline unsigned play_counter_number(unsigned i)
{
    return i < DS_MODEL_GP_MAX ? i : ds_counter_fixed(i - DS_MODEL_GP_MAX);
}

extern const char *const play_event_names[DS_MODEL_PLAIN_EVENTS];
/* Whether an event of the model is that of a name here. Programs have no prefetches, so loads are with them, too. */
static inline bool play_is_event(unsigned event, unsigned named)
{
    return event == named || (named == DS_MODEL_LOAD && event == DS_MODEL_LOAD_OR_PREFETCH);
}
/* Whether the processor's counters count the event, by any code. */
bool play_event_there(const struct ds_model_preset *preset, unsigned event);

/* Bytes of a record with these settings, with all its fragments. */
uint32_t play_record_bytes(const struct play_settings *settings);
/* Of architectural PEBS: there is no Debug Store but for BTS. */
static inline bool play_arch(const struct ds_model_preset *preset)
{
    return preset->pebs23;
}
/* There, the groups as IA32_PMC_GPn_CFG_C has them, whether or not this processor has them. */
uint64_t play_cfg_c_groups(const struct play_settings *settings);
/* The groups that can be chosen on the processor, as settings.groups. */
uint8_t play_groups_there(const struct ds_model_preset *preset);

/* The numbers and choices among the settings, for parser and page. */
struct play_setting {
    const char *key, *text; /* text: what it is, for the page */
    uint32_t low, high, normal;
    size_t field;          /* offset in struct play_settings, a uint32_t */
    const char *values[5]; /* a choice: value i is called values[i]; NULL ends them */
};
#define PLAY_NUMBERS 17u
extern const struct play_setting play_numbers[PLAY_NUMBERS];
extern const char *const play_group_names[6];
