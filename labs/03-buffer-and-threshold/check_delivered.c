/* SPDX-License-Identifier: MIT */
#include "check_delivered.h"

#include "labs/check.h"

#define CALL_BYTES 5u
#define CALLS      600u
#define RUNS       3u

lab_program lab_calls_3; /* ring3/program.asm */

static const struct sampling *settings;
static uint32_t run, delivered;
static uint32_t before_run[RUNS]; /* records that were stored before that run began */
static uint64_t last;             /* number of the last record */
static struct { /* the first thing that was wrong; reported after the run, when the handler is through */
    enum { NOTHING, NOT_A_RECORD, TOO_MANY, AGAIN, NOT_DUE, BAD_MEMORY } what;
    uint64_t value, after; /* `last` at that time */
} wrong;

void lab_expect(const struct sampling *s)
{
    settings = s;
    run = delivered = 0;
    last = 0;
    wrong.what = NOTHING;
}

void lab_expect_run(void)
{
    before_run[run++] =
        delivered + (uint32_t)((settings->area->pebs_index - (uintptr_t)settings->buffer) / settings->record_bytes);
}

/* The run that the next record is of: the buffer may still hold records of an earlier one. */
static uint32_t run_of_next(void)
{
    uint32_t r = run - 1;
    while (r && delivered < before_run[r])
        r--;
    return r;
}

uint32_t lab_delivered(void)
{
    return delivered;
}

static void note(int what, uint64_t value)
{
    if (wrong.what == NOTHING) {
        wrong.what = what;
        wrong.value = value;
        wrong.after = last;
    }
}

static uint64_t eventing_ip(const uint8_t *record)
{
    return settings->record_bytes == sizeof(struct ds_pebs_fmt3)
               ? ((const struct ds_pebs_fmt3 *)(const void *)record)->fmt2.eventing_ip
               : ((const struct ds_pebs_basic *)(const void *)record)->eventing_ip;
}

static void take(const uint8_t *record)
{
    const uint64_t ip = eventing_ip(record), begin = lab_user_address((const void *)(uintptr_t)lab_calls_3);
    const uint64_t call = (ip - begin) / CALL_BYTES;
    if (ip - begin >= CALLS * CALL_BYTES || (ip - begin) % CALL_BYTES) {
        note(NOT_A_RECORD, ip);
        return;
    }
    const uint64_t event = (uint64_t)run_of_next() * CALLS + call + 1, every = settings->period + 1;
    if (event <= last * every)
        note(AGAIN, event);
    else if (event % every)
        note(NOT_DUE, event);
    last = event / every;
    delivered++;
}

void lab_deliver(const uint8_t *records, uint32_t count)
{
    const uint64_t from = (uintptr_t)records - (uintptr_t)settings->buffer;
    const uint64_t room = settings->records + 1; /* one more, by one reading of the manual's absolute maximum */
    if (count > room)
        note(TOO_MANY, count);
    else if (count && from > (room - count) * settings->record_bytes)
        note(BAD_MEMORY, (uintptr_t)records);
    else
        for (uint32_t i = 0; i < count; i++)
            take(records + (size_t)i * settings->record_bytes);
}

void lab_check_delivered(void)
{
    const char *section = "SDM vol. 3B, \"Writing the DS Interrupt Service Routine\"";
    const unsigned long value = (unsigned long)wrong.value;
    switch (wrong.what) {
    case NOTHING:
        return;
    case NOT_A_RECORD:
        lab_fail("not-a-record",
                 "Records lie from pebs_buffer_base to pebs_index, and have s->record_bytes bytes each. Beyond the "
                 "index is what an earlier drain left, or nothing.",
                 section, "a delivered record has EventingIP 0x%lx, which is no call of the program", value);
    case TOO_MANY:
    case BAD_MEMORY:
        lab_fail("too-many", "The buffer holds s->records records. Deliver those below pebs_index, once.", section,
                 "lab_deliver gets %s 0x%lx; the buffer has %u records and is at 0x%lx",
                 wrong.what == TOO_MANY ? "a count of" : "records outside the buffer, at", value, settings->records,
                 (unsigned long)(uintptr_t)settings->buffer);
    case AGAIN:
        lab_fail("twice",
                 "A drain ends with the index: it has to go back to the base. Otherwise the next drain finds the same "
                 "records again, and the buffer fills up.",
                 section, "the record of call %lu was delivered after that of call %lu", value,
                 (unsigned long)(wrong.after * (settings->period + 1)));
    case NOT_DUE:
        lab_fail("period", LAB_PERIOD_HINT, "SDM vol. 3B, \"Processor Event Based Sampling (PEBS)\"",
                 "a record is of call %lu; expected a multiple of %lu", value, (unsigned long)settings->period + 1);
    }
}
