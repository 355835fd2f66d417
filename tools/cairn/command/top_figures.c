/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command/top_figures.h"

#include <errno.h>
#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/model/elf.h"
#include "tools/cairn/model/loss.h"

struct span {
    int64_t first, last; /* session clock */
};

static void count_item(struct cairn_top_figures *f, const struct cairn_log *log, const struct cairn_item *item,
                       struct span *span)
{
    char name[CAIRN_SHOWN];
    if (item->kind == CAIRN_ITEM_RECORD) {
        const bool known = cairn_function_name(log, NULL, item->record->ip, name);
        cairn_tally_row(&f->functions, known ? name : "[unknown]")->side[0].count++;
    }
    if (item->kind != CAIRN_ITEM_SWITCH)
        return;
    const struct cairn_switch *sw = &item->sw;
    span->first = sw->time < span->first ? sw->time : span->first;
    span->last = sw->time > span->last ? sw->time : span->last;
    if (sw->old_tid && sw->detailed && !sw->raw)
        cairn_tally_row(&f->reasons,
                        sw->state == KTHREAD_WAITING ? cairn_reason_name(sw->reason) : cairn_state_name(sw->state))
            ->side[0]
            .count++;
}

static void count_cpu(struct cairn_top_figures *f, const struct cairn_log *log, uint32_t c, struct span *span)
{
    const struct cairn_cpu *cpu = &log->cpu[c];
    struct cairn_lane lane;
    const struct cairn_item *item;
    f->switches += f->totals.switches[c];
    for (size_t i = 0; i < cpu->piece_count; i++) {
        const uint32_t hole = cpu->pieces[i].hole;
        f->gaps += hole != CAIRN_NO_HOLE && cpu->holes.items[hole].kind != CAIRN_HOLE_STOPPED;
    }
    f->gaps += f->ended && cpu->tail != CAIRN_NO_HOLE && cpu->holes.items[cpu->tail].kind != CAIRN_HOLE_STOPPED;
    cairn_lane_init(&lane, log, c, f->totals.compact, CAIRN_BY_FORMAT);
    while ((item = cairn_lane_next(&lane)) != NULL)
        count_item(f, log, item, span);
    cairn_lane_free(&lane);
}

/* What has not come yet is not missing: a header can tell how much that is. */
static uint64_t missing_frames(const struct cairn_frames *frames, bool ended)
{
    const struct cairn_run *last = frames->missing.count ? &frames->missing.items[frames->missing.count - 1] : NULL;
    const bool to_come = !ended && last && (uint64_t)last->last + 1 == frames->total;
    return frames->missing_frames - (to_come ? (uint64_t)last->last - last->first + 1 : 0);
}

static void read_figures(struct cairn_top_figures *f, const struct cairn_log *log)
{
    const struct cairn_session *session = &log->session;
    struct span span = {INT64_MAX, INT64_MIN};
    uint64_t there;
    f->ended = log->frames.of[cairn_stream_index(CAIRN_STREAM_LAST)].frames != 0;
    cairn_totals_read(&f->totals, log, CAIRN_BY_FORMAT, f->ended);
    f->frames = log->frames.count;
    f->trace_frames = log->frames.of[cairn_stream_index(CAIRN_STREAM_TRACE)].frames;
    f->dump = log->frames.dump;
    f->first_crc = log->frames.crcs.items[0];
    f->missing = missing_frames(&log->frames, f->ended);
    f->damaged = cairn_damaged_frames(log) + log->other_sessions;
    f->session = log->number;
    f->cpus = log->cpus;
    f->hz = session->hz ? session->hz : TRACE_CLOCK_HZ;
    f->emulated = cairn_slice_is(cairn_key(&log->text, "ds.emulated"), "1");
    f->dropped = cairn_records_dropped(log);
    f->tried_known = cairn_switches_told(log, f->totals.compact, &there, &f->tried);
    for (uint32_t c = 0; c < log->cpus; c++)
        count_cpu(f, log, c, &span);
    span.first = session->start_known ? session->start : span.first;
    span.last = f->ended && session->stop_known && session->stop > span.last ? session->stop : span.last;
    f->seconds = span.last > span.first ? ((double)span.last - (double)span.first) / (double)f->hz : 0.0;
    f->names = cairn_alloc((f->totals.threads.count + 1) * sizeof(*f->names));
    for (size_t i = 0; i < f->totals.threads.count; i++)
        cairn_show_thread(f->names[i], log, f->totals.threads.items[i].tid, CAIRN_SHOWN - 1);
    f->totals.log = NULL;
}

int cairn_top_read(struct cairn_top_figures *f, const struct cairn_input *input, uint32_t session,
                   void (*progress)(uint64_t done, uint64_t all))
{
    struct cairn_log *log = cairn_alloc(sizeof(*log));
    char refusal[CAIRN_REFUSAL];
    *f = (struct cairn_top_figures){0};
    int e = cairn_log_read(log, input, &(struct cairn_choice){.progress = progress}, refusal);
    if (!e) {
        if (session && session != log->number)
            cairn_log_select(log, session);
        read_figures(f, log);
        e = log->input.error;
        cairn_log_free(log);
    }
    if (e)
        cairn_top_free(f);
    free(log);
    return e == -ENOENT ? 0 : e;
}

void cairn_top_free(struct cairn_top_figures *f)
{
    cairn_totals_free(&f->totals);
    cairn_tally_free(&f->reasons);
    cairn_tally_free(&f->functions);
    free(f->names);
    *f = (struct cairn_top_figures){0};
}

bool cairn_top_goes_on(const struct cairn_top_figures *f, const struct cairn_top_figures *before)
{
    return f->frames >= before->frames && f->dump == before->dump && f->first_crc == before->first_crc;
}
