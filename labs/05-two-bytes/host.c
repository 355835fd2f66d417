/* SPDX-License-Identifier: MIT */
/* Lab 5: the check. First switches that it makes itself, then those of the boots: what really happened (truth=1) goes
 * through your encoder, and its batches must be those that the kernel has written. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host_decode.h"
#include "host_scenes.h"
#include "labs/check.h"
#include "labs/host/log.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/log/truth_stream.h"
#include "trace/postmortem/freeze.h"

const char lab_title[] = "5 Context switches in two bytes";

struct replay { /* of one CPU */
    struct cairn_truth truth;
    uint8_t written[CCSWAP_BATCH_BYTES]; /* the kernel's batch that is open in the pair; */
    uint32_t size;                       /* 0: none is */
    int64_t time;                        /* when the kernel closed it */
};

static void each_batch(struct pair *p)
{
    struct replay *r = p->context;
    if (p->right.size != r->size || memcmp(p->right.bytes, r->written, r->size) != 0)
        lab_broken("a batch of the log is not the one that Cairn's encoder makes of the truth");
    r->size = 0;
    decode_batch(p);
}

/* The next `count` switches that really happened. */
static void feed_truth(struct pair *p, struct replay *r, const struct cairn_log *log, uint32_t count)
{
    for (; count; count--) {
        struct cairn_truth_switch t;
        const uint8_t *next = cairn_truth_next(&r->truth, CAIRN_TRUTH_OF(CAIRN_TRUTH_SWITCH));
        if (!next)
            lab_broken("the log has more switches than the truth");
        memcpy(&t, next, sizeof t);
        const struct cswitch sw = {.old_tid = t.old_tid,
                                   .new_wait = t.new_wait,
                                   .old_state = t.old_state,
                                   .old_wait_reason = t.old_wait_reason,
                                   .old_priority = t.old_priority,
                                   .old_base = t.old_base};
        pair_switch(p, &sw, trace_clock_units(&log->session.clock, t.tsc));
    }
}

/* A batch that no switch has closed: before a drain, or at the end. */
static void close_written(struct pair *p, struct replay *r, enum why why)
{
    if (r->size)
        pair_close(p, r->time, why);
}

static void replay_cpu(struct pair *p, const struct cairn_log *log, uint32_t cpu)
{
    static struct replay r;
    static struct cairn_walk walk;
    struct cairn_event e;
    r.size = 0;
    p->context = &r;
    p->each = each_batch;
    cairn_truth_init(&r.truth, log, cpu);
    cairn_walk_init(&walk, log, cpu);
    while (cairn_walk_next(&walk, &e)) {
        if (e.hook == HOOK_CONTEXTSWAP_BATCH) {
            const uint32_t count = trace_ccswap_records(e.payload, e.size);
            feed_truth(p, &r, log, 1); /* closes the batch before */
            if (r.size)
                lab_broken("a batch of the log ends where Cairn's encoder goes on");
            memcpy(r.written, e.payload, e.size);
            r.size = e.size;
            r.time = e.time;
            feed_truth(p, &r, log, count - 1);
        } else if (cairn_drains_begins(&e)) {
            close_written(p, &r, WHY_DRAIN);
        } else if (e.hook == HOOK_CAIRN_SESSION) {
            close_written(p, &r, WHY_STOP);
        }
    }
    close_written(p, &r, WHY_STOP);
}

static uint32_t check_log(struct pair *p, const char *path)
{
    static const struct scene scene = {"boot",
                                       "The switches of a boot are right one by one in the series before. Compare the "
                                       "record that differs with the table of forms.",
                                       "docs/reference/format.md, section 6"};
    static struct cairn_log log;
    uint32_t switches = 0, batches = 0;
    char name[96];
    lab_log_open(&log, path);
    for (uint32_t cpu = 0; cpu < log.cpus; cpu++) {
        pair_begin(p, (int64_t)log.session.tick_units, true, &scene);
        replay_cpu(p, &log, cpu);
        pair_end(p, 0);
        switches += p->switches;
        batches += p->right_count;
    }
    lab_pass("boot", "%" PRIu32 " switches in %" PRIu32 " batches, %s", switches, batches,
             lab_log_name(&log, name, sizeof name));
    lab_log_close(&log);
    return switches;
}

int main(int argc, char **argv)
{
    static struct pair pair;
    uint32_t switches = 0;
    printf("lab %s\n", lab_title);
    check_encoder(&pair);
    check_decoder(&pair);
    for (int i = 1; i < argc; i++)
        switches += check_log(&pair, argv[i]);
    if (switches < 100000)
        lab_broken("fewer than 100000 switches in the logs");
    return 0;
}
