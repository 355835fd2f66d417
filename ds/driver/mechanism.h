/* SPDX-License-Identifier: MIT */
/*
 * What stores PEBS records: the Debug Store (ds/driver/store.c), or what a wing adds in its place. All that depends on
 * it is behind this structure; a CPU has one, from detection on, and the rest of the driver is the same for all.
 *
 * The steps are those of ds/driver/driver.c. A function that is NULL in the Debug Store's structure says so.
 */
#pragma once

#include "ds/driver/driver.h"
#include "kernel/lib/rows.h"

struct ds_detection;

/* A register that a hypervisor may show and not have: written, read back and restored by detection. */
struct ds_probed {
    uint32_t msr;
    uint64_t value;
    const char *name, *drops, *refuses; /* the row, and what it says where the value does not stay, or raises #GP */
};

struct ds_users { /* of what may be somebody's: a row of detection, and a word for caps->in_use, or "" */
    const char *name;
    uint64_t value;
    bool used, refused; /* not all of it can be read */
    const char *yes, *no;
    char word[40];
};

struct ds_mechanism {
    uint8_t first, last; /* IA32_PERF_CAPABILITIES.PEBS_FMT */
    const char *set_up;  /* what a refusal of ds_start happened during */
    size_t cpu_bytes;    /* of the mechanism's own structure, which begins with a struct ds_cpu */

    /* ---- detection: ds/driver/detect.c */
    void (*find_store)(struct ds_detection *d); /* the row of CPUID's DS bit; caps->bts */
    void (*find_pebs)(struct ds_detection *d);  /* rows of IA32_MISC_ENABLE and all that follow from there */
    const char *found;                          /* caps->reason where nothing is missing */
    uint32_t on_msr;                            /* in which these bits say that PEBS is on */
    uint64_t on_bits;
    struct ds_probed probed[2];
    /* Whether PEBS is somebody's. NULL: on_msr says all there is. */
    void (*find_users)(const struct ds_machine *machine, const struct ds_caps *caps, struct ds_users *users);

    /* ---- the plan: ds/driver/plan.c */
    bool reload_32; /* counters are reloaded with 32 bits, sign-extended */
    uint64_t (*groups)(const struct ds_caps *caps, const struct ds_config *config);
    uint32_t (*record_size)(const struct ds_caps *caps, const struct ds_config *config);
    size_t (*buffer_bytes)(size_t records); /* of so many bytes of records */
    /* Groups that this processor's records do not have. 0, or -EINVAL with one line in `error`. */
    int (*plan_groups)(const struct ds_cpu *ds, char *error, size_t size);
    /* Once counters and groups are planned. 0, or -EINVAL with one line in `error`. NULL: nothing. */
    int (*plan)(struct ds_cpu *ds, char *error, size_t size);

    /* ---- set-up; 0 or -EFAULT */
    int (*off)(struct ds_cpu *ds);      /* 1, with a wait for records on their way if it was on */
    int (*place)(struct ds_cpu *ds);    /* 2 and 3; the area is cleared already */
    int (*contents)(struct ds_cpu *ds); /* 5 */
    int (*on)(struct ds_cpu *ds);       /* 8 */
    /* While it runs: turns PEBS off and on again. NULL: it stays on, only its counters go off. */
    void (*turn)(struct ds_cpu *ds, bool on);
    /* counter->initial has changed; counters are off. */
    void (*set_period)(struct ds_cpu *ds, const struct ds_counter *counter);

    /* ---- the index, and what is in the buffer */
    const volatile uint64_t *(*index)(const struct ds_cpu *ds);
    uint64_t (*used)(const struct ds_cpu *ds); /* bytes that were not handed over yet */
    uint64_t (*room)(const struct ds_cpu *ds); /* at most so many */
    /* Makes the index right; false: #GP, which is counted. NULL: it is in memory, always right. */
    bool (*refresh)(struct ds_cpu *ds);
    /* The last refresh of this CPU, in a panic. NULL where refresh is. */
    void (*refresh_panic)(struct ds_cpu *ds);
    /* Records that `bytes` bytes are, `from` bytes behind ds_records. 0 of what is not in the buffer. */
    uint64_t (*count)(const struct ds_cpu *ds, uint64_t from, uint64_t bytes);
    bool (*full)(const struct ds_cpu *ds, uint64_t used); /* records may be missing */
    /* The index goes back, counting paused. What came since the first `bytes` were taken moves with it. */
    void (*begin_again)(struct ds_cpu *ds, uint32_t bytes);
    void (*describe)(const struct ds_cpu *ds, struct ds_drain *drain); /* area, area_bytes, address, form of records */
    bool (*panic)(struct ds_cpu *ds); /* whether a panic's drain can find anything; sets ds->unsure */

    /* ---- the PMI */
    uint64_t status_bits; /* of GLOBAL_STATUS, that say that the threshold was reached */
    bool (*at_threshold)(struct ds_cpu *ds);
};

/* Beside the Debug Store's. */
ROWS(ds_mechanism, const struct ds_mechanism);

extern const struct ds_mechanism ds_store;

/* That of this record format; the Debug Store's if there is none. */
const struct ds_mechanism *ds_mechanism_of(unsigned format);
