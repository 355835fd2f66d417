/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/counters.h"

#include <inttypes.h>
#include <string.h>

/* NAME:PERIOD[:...]; false: it is none. */
static bool read_event(struct cairn_counter *c, struct cairn_slice event)
{
    static const char plain[] = ":plain";
    const uint32_t length = sizeof(plain) - 1;
    const char *colon = event.size ? memchr(event.at, ':', event.size) : NULL;
    *c = (struct cairn_counter){.event = event};
    if (!colon)
        return false;
    c->event.size = (uint32_t)(colon - event.at);
    c->plain = event.size >= length && memcmp(event.at + event.size - length, plain, length) == 0;
    struct cairn_slice rest = {colon + 1, event.size - c->event.size - 1};
    const char *end = rest.size ? memchr(rest.at, ':', rest.size) : NULL;
    if (end)
        rest.size = (uint32_t)(end - rest.at);
    return cairn_slice_u64(rest, &c->period);
}

/* pebs.later, a period for each event; `none`, or what is no such list: none is known. */
static void read_later(struct cairn_counters *counters, struct cairn_slice list)
{
    uint64_t period[DS_COUNTER_NUMBERS];
    unsigned n = 0;
    while (list.size && n < counters->count) {
        const char *comma = memchr(list.at, ',', list.size);
        struct cairn_slice one = {list.at, comma ? (uint32_t)(comma - list.at) : list.size};
        if (!cairn_slice_u64(one, &period[n++]))
            return;
        list.at += one.size + (comma != NULL);
        list.size -= one.size + (comma != NULL);
    }
    for (unsigned i = 0; n == counters->count && !list.size && i < n; i++)
        counters->items[i].later = period[i];
}

/* "-": this CPU does not have the event. */
static bool skip_absent(struct cairn_slice *numbers)
{
    if (!numbers->size || *numbers->at != '-')
        return false;
    const uint32_t size = 1 + (numbers->size > 1 && numbers->at[1] == ' ');
    numbers->at += size;
    numbers->size -= size;
    return true;
}

void cairn_counters_read(struct cairn_counters *counters, const struct cairn_text *text, uint32_t cpu)
{
    struct cairn_slice numbers = cairn_key(text, "ds.cpu.%" PRIu32 ".counters", cpu);
    uint64_t n, seen = 0;
    *counters = (struct cairn_counters){.known = numbers.size};
    struct cairn_slice event;
    for (unsigned i = 0; i < DS_COUNTER_NUMBERS && (event = cairn_ds_event(text, cpu, i)).size; i++) {
        if (skip_absent(&numbers))
            continue;
        struct cairn_counter *c = &counters->items[counters->count++];
        bool good = read_event(c, event);
        good = cairn_slice_number(&numbers, &n) && n < DS_COUNTER_NUMBERS && !(seen & DS_BIT(n)) && good;
        seen |= good ? DS_BIT(n) : 0;
        c->number = (uint8_t)(good ? n : 0);
        counters->pebs |= good && !c->plain ? DS_BIT(n) : 0;
        counters->known &= good;
    }
    counters->known &= counters->count && !numbers.size;
    if (!counters->known)
        counters->pebs = 0;
    if (!cairn_has_key(text, "ds.cpu.%" PRIu32 ".events", cpu)) /* efficient cores keep their own */
        read_later(counters, cairn_key(text, "option.pebs.later"));
}

const struct cairn_counter *cairn_counters_find(const struct cairn_counters *counters, unsigned number)
{
    for (unsigned i = 0; counters->known && i < counters->count; i++)
        if (counters->items[i].number == number)
            return &counters->items[i];
    return NULL;
}
