/* SPDX-License-Identifier: MIT */
#include "tools/grab/report/samples.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/grab/base/memory.h"

#define BYTES (1u << 20) /* room for all samples of a setting */

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void *grab_samples_map(int event)
{
    void *map = mmap(NULL, page_size() + BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    return map == MAP_FAILED ? NULL : map;
}

/* Nothing has been taken out before, and what finds no room is lost: so none begins again at the start. */
void grab_samples_take(struct grab_samples *samples, void *map)
{
    const struct perf_event_mmap_page *page = map;
    const uint8_t *ring = (const uint8_t *)map + page_size();
    const uint64_t end = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    struct perf_event_header head;
    for (uint64_t at = 0; at < end; at += head.size) {
        uint64_t word[GRAB_SAMPLE_WORDS] = {0};
        memcpy(&head, ring + at, sizeof head);
        const size_t rest = head.size - sizeof head;
        memcpy(word, ring + at + sizeof head, rest < sizeof word ? rest : sizeof word);
        if (head.type == PERF_RECORD_SAMPLE)
            memcpy(GRAB_ADD(samples->items, samples->count, samples->room), word, sizeof word);
        else if (head.type == PERF_RECORD_LOST) /* its number and how many */
            samples->lost += word[1];
    }
    munmap(map, page_size() + BYTES);
}
