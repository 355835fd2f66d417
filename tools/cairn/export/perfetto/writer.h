/* SPDX-License-Identifier: MIT */
/* Parts of the Perfetto writer (writer.c). Messages are those of perfetto.proto. */
#pragma once

#include "perfetto.pb-c.h"
#include "tools/cairn/export/callstack.h"
#include "tools/cairn/export/writer.h"
#include "tools/cairn/log/etl/processes.h"
#include "tools/cairn/model/cpu_time.h"

/* What nobody knows has a TID of its own, and so a name that says it: one for each reason why the thread of a PEBS
 * record is not known, below CAIRN_PF_UNKNOWN. As a process, it is that of threads whose process is not known. */
#define CAIRN_PF_UNKNOWN      INT32_MAX
#define CAIRN_PF_UNKNOWN_NAME "[unknown]"
static inline int32_t cairn_pf_blame_tid(uint8_t blame)
{
    return CAIRN_PF_UNKNOWN - 1 - blame;
}
#define CAIRN_PF_SYSTEM         "Cairn"
#define CAIRN_PF_IDLE_PROCESS   0
#define CAIRN_PF_KERNEL_PROCESS 4

/* Of packets that rely on each other: what is interned in one is not known to the other. */
enum cairn_pf_sequence { CAIRN_PF_EVENTS = 1, CAIRN_PF_SAMPLES };

/* What the trace's clock says when the session begins, in ns: PEBS records may be older, and viewers drop what is below
 * 0. As in CTF. */
#define CAIRN_PF_ORIGIN INT64_C(1000000000000000000)
/* A time of the session clock as a timestamp. */
static inline uint64_t cairn_pf_time(const struct cairn_output *o, int64_t time)
{
    const int64_t ns = cairn_out_ns(o, time), most = INT64_MAX - CAIRN_PF_ORIGIN;
    return (uint64_t)(CAIRN_PF_ORIGIN + (ns > most ? most : ns < -CAIRN_PF_ORIGIN ? -CAIRN_PF_ORIGIN : ns));
}

/* ---- writer.c ---------------------------------------------------------------------------------------------------- */

/* Writes it, as part of the trace. */
void cairn_pf_put(struct cairn_output *o, Pf__TracePacket *packet, enum cairn_pf_sequence sequence);
/* Of Windows' own logs, read before anything is written. */
struct cairn_processes *cairn_pf_processes(const struct cairn_output *o);

/* ---- machine.c --------------------------------------------------------------------------------------------------- */

/* Whether PEBS records are a model's. */
bool cairn_pf_emulated(const struct cairn_output *o);
/* The first packets: the system, and what the trace is of. */
void cairn_pf_system(struct cairn_output *o);
/* What the clocks show at a time of the session's: that one, and where the log has a date, the time of day. */
void cairn_pf_clocks(struct cairn_output *o, int64_t time);
/* Processes and threads by name. */
void cairn_pf_threads(struct cairn_output *o);
/* NULL: it has no name. */
char *cairn_pf_name(const struct cairn_output *o, uint32_t tid, char out[CAIRN_SHOWN]);
/* The process of a thread; CAIRN_PF_UNKNOWN: the log does not say. */
int32_t cairn_pf_process(const struct cairn_output *o, uint32_t tid);

/* ---- sched.c: who runs ------------------------------------------------------------------------------------------- */

struct cairn_pf_sched {
    struct {
        bool ran; /* `tid` is the one that runs, as far as the viewer knows */
        uint32_t tid;
        bool lost; /* something, since the last packet; */
        bool hole; /* since the last switch */
        struct cairn_stints stints;
    } cpu[CAIRN_CPUS_MOST];
    bool reasons[UINT8_MAX + 1]; /* written, each by its number and 1 */
};
void cairn_pf_sched_begin(struct cairn_output *o, struct cairn_pf_sched *s);
void cairn_pf_switch(struct cairn_output *o, struct cairn_pf_sched *s, const struct cairn_item *item);
/* `ready`: what CAIRN_LIVE_READY is. */
void cairn_pf_ready(struct cairn_output *o, struct cairn_pf_sched *s, const struct cairn_item *item,
                    const struct cairn_live *ready);
/* Something is missing here. */
void cairn_pf_gap(struct cairn_output *o, struct cairn_pf_sched *s, const struct cairn_item *item);

/* Whoever runs does so no longer than until then; INT64_MAX: to the end, when that may be. */
void cairn_pf_sched_end(struct cairn_output *o, struct cairn_pf_sched *s, int64_t stop);

/* ---- samples.c: PEBS records, or a profile's samples ------------------------------------------------------------- */

#define CAIRN_PF_DEPTH CAIRN_FRAMES /* of a call stack */
#define CAIRN_PF_NODES 4096u        /* of twice as many slots */

struct cairn_pf_place {
    uint64_t address;
    const struct cairn_etl_life *image; /* that has it; NULL: none of a file of Windows */
};

/* The call stacks that were written, as a tree: each node is a call stack, the caller's with one more address. A node
 * without a caller is the frame of its address, too. When no more fit, all are forgotten, here and by the viewer. */
struct cairn_pf_stacks {
    struct {
        uint64_t caller;
        struct cairn_pf_place place;
        uint64_t iid; /* of the call stack; 0: free */
        bool written; /* as a call stack */
    } slot[2 * CAIRN_PF_NODES];
    uint32_t used;
    uint64_t last_iid;
    bool begun;
    bool *mapped; /* of each image of the file, whether the viewer knows it */
    struct cairn_branches branches;
};
/* The IID of a call stack, its outermost frame first, written before where the viewer still has it. An IID never means
 * two things, whatever was forgotten. `depth`: 1..CAIRN_PF_DEPTH. */
uint64_t cairn_pf_stack(struct cairn_output *o, struct cairn_pf_stacks *stacks, const struct cairn_pf_place *places,
                        size_t depth);
/* The same of a profile's sample, o->sample. */
void cairn_pf_profile_sample(struct cairn_output *o, struct cairn_pf_stacks *stacks, const struct cairn_item *item);
void cairn_pf_sample(struct cairn_output *o, struct cairn_pf_stacks *stacks, const struct cairn_item *item);
/* So many records did not come to be on the CPU. */
void cairn_pf_lost_samples(struct cairn_output *o, struct cairn_pf_stacks *stacks, const struct cairn_item *item,
                           uint64_t lost);
