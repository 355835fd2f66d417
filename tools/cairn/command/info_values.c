/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command/info_values.h"

#include <stdio.h>
#include <string.h>

/* Each % stands for one number of the value. */
static const struct {
    const char *key, *text;
} values[] = {
    {"grab.clock", "times exact to % ns, by % pairs of TSC and clock; % moved, by up to % ns"},
    {"grab.skipped", "% hooks of drains, % hooks of switches"},
    {"grab.index", "% read during the switch, % still 0 at the next read, % unknown"},
    {"grab.throttled", "% times"},
    {"grab.maps_lost", "% events of mappings"},
};

/* False: the value does not have a word for each %. */
static bool fill(char out[160], const char *text, struct cairn_slice value)
{
    size_t n = 0;
    for (; *text && n < 159; text++) {
        if (*text != '%') {
            out[n++] = *text;
            continue;
        }
        const char *blank = value.size ? memchr(value.at, ' ', value.size) : NULL;
        const uint32_t word = blank ? (uint32_t)(blank - value.at) : value.size;
        if (!word || *value.at < '0' || *value.at > '9' || n + word > 158)
            return false;
        memcpy(out + n, value.at, word);
        n += word;
        value.at += word + (blank != NULL);
        value.size -= word + (blank != NULL);
    }
    out[n] = '\0';
    return !value.size;
}

/* "session.1.clock", of any session. */
static bool is_clock(struct cairn_slice name)
{
    static const char session[] = "session.", clock[] = ".clock";
    return name.size == sizeof(session) + sizeof(clock) - 1 && memcmp(name.at, session, sizeof(session) - 1) == 0 &&
           memcmp(name.at + sizeof(session), clock, sizeof(clock) - 1) == 0;
}

struct cairn_slice cairn_info_values_text(char out[160], const struct cairn_key *key)
{
    static const char *const clocks[] = {"1: performance counter", "2: system time", "3: CPU cycles"};
    uint64_t type;
    if (is_clock(key->name) && cairn_slice_u64(key->value, &type) && type >= TRACE_CLOCK_QPC && type <= TRACE_CLOCK_TSC)
        return cairn_slice_of(clocks[type - 1]);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (cairn_slice_is(key->name, values[i].key) && fill(out, values[i].text, key->value))
            return cairn_slice_of(out);
    return key->value;
}
