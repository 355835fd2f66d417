/* SPDX-License-Identifier: MIT */
/*
 * Parts of the perf.data writer (writer.c), and as much of the file's layout as it writes. Names and numbers are those
 * of Linux' include/uapi/linux/perf_event.h and tools/perf/Documentation/perf.data-file-format.txt: a header; a section
 * of attributes, one for each event that was counted; a section of records; sections that describe the machine.
 */
#pragma once

#include "tools/cairn/base/number_map.h"
#include "tools/cairn/export/writer.h"
#include "tools/cairn/model/counters.h"

/* ---- layout ------------------------------------------------------------------------------------------------------ */

#define PERF_MAGIC "PERFILE2"

struct perf_file_section {
    uint64_t offset, size;
};

struct perf_file_header {
    char magic[8];
    uint64_t size, attr_size; /* attr_size: of an attribute with its section */
    struct perf_file_section attrs, data, event_types;
    uint64_t features[4]; /* bits: which sections follow the data */
};
_Static_assert(sizeof(struct perf_file_header) == 104, "the header of perf.data");

enum perf_feature {
    PERF_HEADER_BUILD_ID = 2,
    PERF_HEADER_OSRELEASE = 4,
    PERF_HEADER_VERSION = 5,
    PERF_HEADER_ARCH = 6,
    PERF_HEADER_NRCPUS = 7,
    PERF_HEADER_CPUDESC = 8,
    PERF_HEADER_CMDLINE = 11,
    PERF_HEADER_EVENT_DESC = 12,
    PERF_HEADER_PMU_MAPPINGS = 16,
    PERF_HEADER_CLOCK_DATA = 29,
};

struct perf_attr { /* PERF_ATTR_SIZE_VER5 of struct perf_event_attr */
    uint32_t type, size;
    uint64_t config, sample_period, sample_type, read_format, flags;
    uint32_t wakeup_events, bp_type;
    uint64_t config1, config2, branch_sample_type, sample_regs_user;
    uint32_t sample_stack_user;
    int32_t clockid;
    uint64_t sample_regs_intr;
    uint32_t aux_watermark;
    uint16_t sample_max_stack, reserved;
};
_Static_assert(sizeof(struct perf_attr) == 112, "PERF_ATTR_SIZE_VER5");

enum { PERF_TYPE_SOFTWARE = 1, PERF_TYPE_RAW = 4, PERF_COUNT_SW_CPU_CLOCK = 0, PERF_COUNT_SW_DUMMY = 9 };
#define PERF_TYPE_INTEL_BTS 10u /* a dynamic number, which the section of PMUs gives a name */

#define PERF_ATTR_MMAP           (UINT64_C(1) << 8)
#define PERF_ATTR_COMM           (UINT64_C(1) << 9)
#define PERF_ATTR_PRECISE(n)     ((uint64_t)(n) << 15)
#define PERF_ATTR_SAMPLE_ID_ALL  (UINT64_C(1) << 18)
#define PERF_ATTR_MMAP2          (UINT64_C(1) << 23)
#define PERF_ATTR_CONTEXT_SWITCH (UINT64_C(1) << 26)
#define PERF_ATTR_KSYMBOL        (UINT64_C(1) << 29)
#define PERF_ATTR_BUILD_ID       (UINT64_C(1) << 34)

#define PERF_SAMPLE_IP            (1u << 0)
#define PERF_SAMPLE_TID           (1u << 1)
#define PERF_SAMPLE_TIME          (1u << 2)
#define PERF_SAMPLE_ADDR          (1u << 3)
#define PERF_SAMPLE_CALLCHAIN     (1u << 5)
#define PERF_SAMPLE_CPU           (1u << 7)
#define PERF_SAMPLE_BRANCH_STACK  (1u << 11)
#define PERF_SAMPLE_DATA_SRC      (1u << 15)
#define PERF_SAMPLE_IDENTIFIER    (1u << 16)
#define PERF_SAMPLE_REGS_INTR     (1u << 18)
#define PERF_SAMPLE_WEIGHT_STRUCT (1u << 24)
/* What is at the end of each record that is no sample, too. */
#define PERF_SAMPLE_COMMON                                                                                             \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* In a call chain: whose the addresses behind it are. */
#define PERF_CONTEXT_KERNEL (UINT64_MAX - 127)
#define PERF_CONTEXT_USER   (UINT64_MAX - 511)

#define PERF_SAMPLE_BRANCH_ANY_ALL 0xFu /* any branch, of user, kernel and hypervisor */

enum perf_record_type {
    PERF_RECORD_LOST = 2,
    PERF_RECORD_COMM = 3,
    PERF_RECORD_SAMPLE = 9,
    PERF_RECORD_MMAP2 = 10,
    PERF_RECORD_AUX = 11,
    PERF_RECORD_LOST_SAMPLES = 13,
    PERF_RECORD_SWITCH_CPU_WIDE = 15,
    PERF_RECORD_KSYMBOL = 17,
    PERF_RECORD_AUXTRACE_INFO = 70,
    PERF_RECORD_AUXTRACE = 71,
};

enum {
    PERF_RECORD_MISC_KERNEL = 1,
    PERF_RECORD_MISC_USER = 2,
    PERF_RECORD_MISC_SWITCH_OUT = 1 << 13,
    PERF_RECORD_MISC_SWITCH_OUT_PREEMPT = 1 << 14,
    PERF_RECORD_MISC_EXACT_IP = 1 << 14,
    PERF_RECORD_MISC_MMAP_BUILD_ID = 1 << 14,
    PERF_RECORD_MISC_BUILD_ID_SIZE = 1 << 15,
    PERF_AUX_FLAG_TRUNCATED = 1,
    PERF_SAMPLE_REGS_ABI_64 = 2,
    PERF_AUXTRACE_INTEL_BTS = 2,
};

/* ---- file.c: records and sections -------------------------------------------------------------------------------- */

#define CAIRN_PERF_RECORD_MOST 65528u /* what a record's 16 bits of size hold, in words */

struct cairn_perf_file {
    FILE *to;
    uint8_t record[CAIRN_PERF_RECORD_MOST];
    uint32_t used; /* of the record */
};

/* The event of a record's sample, or of its end. */
enum {
    CAIRN_PERF_ID_DUMMY = 1,
    CAIRN_PERF_ID_BTS = 2,
    CAIRN_PERF_ID_PROFILE = 3,
    CAIRN_PERF_ID_FIRST = 16 /* of the PEBS events */
};

struct cairn_perf_where { /* what a record says at its end */
    uint32_t tid, cpu;
    uint64_t time; /* of the file */
    uint32_t pid;  /* 0: as the TID */
};

void cairn_perf_begin(struct cairn_perf_file *f, enum perf_record_type type, uint16_t misc);
void cairn_perf_32(struct cairn_perf_file *f, uint32_t value);
void cairn_perf_64(struct cairn_perf_file *f, uint64_t value);
void cairn_perf_bytes(struct cairn_perf_file *f, const void *bytes, size_t size);
/* With its 0, up to a whole word; cut after 4096 bytes. */
void cairn_perf_string(struct cairn_perf_file *f, const char *text);
/* Writes the record; `where` NULL: as it is. */
void cairn_perf_end(struct cairn_perf_file *f, const struct cairn_perf_where *where);

struct cairn_perf_event {  /* one that was counted */
    struct cairn_slice of; /* the log's name of it */
    struct perf_attr attr;
    char name[160];
    uint64_t id;
};

/* Header and attributes, before the records. */
void cairn_perf_file_begin(struct cairn_output *o);
/* What describes the machine, behind them, and the header anew. 0, or negative errno. */
int cairn_perf_file_end(const struct cairn_output *o);

/* ---- writer.c ---------------------------------------------------------------------------------------------------- */

struct cairn_perf {
    struct cairn_perf_file file;
    int64_t shift;        /* ns of the file's time 0, before the session began */
    uint64_t regs;        /* which registers a sample has */
    uint32_t sample_type; /* of PEBS events */
    bool unnamed;         /* there are records whose counter is not known */
    struct {
        struct cairn_perf_event *items;
        size_t count, room;
    } events;
    struct cairn_counters on[CAIRN_CPUS_MOST]; /* what each CPU counted */
    size_t other;                              /* the event of records whose counter is not known */
    struct cairn_map queues;                   /* of threads that took branches */
    uint32_t queue_count;
    struct cairn_perf_pending { /* a CPU's drain of branches, not written yet */
        uint8_t *bytes;
        size_t used, room;
        uint32_t tid;
        int64_t time;
        uint64_t lost; /* 0: none */
        bool any;
    } pending[CAIRN_CPUS_MOST];
    uint64_t aux_offset;
};

static inline uint64_t cairn_perf_time(const struct cairn_output *o, int64_t time)
{
    return (uint64_t)(cairn_out_ns(o, time) + ((const struct cairn_perf *)o->state)->shift);
}

/* ---- sample.c ---------------------------------------------------------------------------------------------------- */

/* What the log's records have, so that samples do, whether each is of an event that is known, and how many ns before
 * the session the first was. Behind cairn_perf_counters. */
void cairn_perf_survey(struct cairn_output *o);
/* A sample for each event that the record is of. */
void cairn_perf_sample(struct cairn_output *o, const struct cairn_item *item);

/* ---- profile.c: of a file of Windows, whose threads are of processes --------------------------------------------- */

bool cairn_perf_foreign(const struct cairn_output *o);
/* The PID of a thread then; of any other log, and where nothing tells, its TID. */
uint32_t cairn_perf_pid(const struct cairn_output *o, uint32_t tid, int64_t time);
/* The event that a profile's samples are of; nothing where there are none. */
void cairn_perf_profile_event(struct cairn_output *o);
/* o->sample. */
void cairn_perf_profile_sample(struct cairn_output *o, const struct cairn_item *item);
/* Its threads and images. */
void cairn_perf_foreign_names(struct cairn_output *o);

/* ---- machine.c: the beginning ------------------------------------------------------------------------------------ */

/* The TID that stands for an unknown thread, one for each reason. */
static inline uint32_t cairn_perf_tid(uint8_t blame, uint32_t tid)
{
    return blame == CAIRN_BLAME_KNOWN ? tid : INT32_MAX - (uint32_t)blame;
}
/* Another event, with the attributes that all have. */
struct cairn_perf_event *cairn_perf_add_event(struct cairn_output *o, uint64_t id, struct cairn_slice name);
void cairn_perf_counters(struct cairn_output *o);
/* The events that were counted, behind the survey. */
void cairn_perf_events(struct cairn_output *o);
/* The index of a counter's event; the number of events: it has none, because it writes no records. */
size_t cairn_perf_event_of(const struct cairn_perf *p, const struct cairn_counter *c);
/* The kernel's build ID; false: the file does not name the kernel's image, but each function. */
bool cairn_perf_build_id(const struct cairn_output *o, uint8_t id[20]);
/* Threads by name, functions or the kernel's image. */
void cairn_perf_names(struct cairn_output *o);
/* Whether records are a model's, or an emulator's. */
bool cairn_perf_emulated(const struct cairn_output *o);
