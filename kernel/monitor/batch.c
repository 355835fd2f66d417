/* SPDX-License-Identifier: MIT */
/* A compact batch byte by byte (docs/reference/format.md): its header, then each record with its bytes and what they
 * say. Whatever the bytes are, nothing after them is looked at. */
#include "kernel/lib/string.h"
#include "kernel/monitor/inside.h"
#include "trace/wire/format.h"
#include "trace/wire/switch_words.h"

static const char *const words[] = {TRACE_SWITCH_WORDS};
_Static_assert(sizeof words / sizeof words[0] == KTHREAD_STATES + TRACE_SWITCH_REASONS, "states, then reasons");

const char *kmonitor_state(uint32_t state)
{
    return state < KTHREAD_STATES ? words[state] : "?";
}

const char *kmonitor_reason(uint32_t reason)
{
    return reason < TRACE_SWITCH_REASONS ? words[KTHREAD_STATES + reason] : "?";
}

static uint32_t field(uint32_t word, unsigned shift, unsigned bits)
{
    return word >> shift & CCSWAP_MASK(bits);
}

/* The state field: why the thread waits, or its state. */
static const char *state_words(uint32_t state, char *text, size_t size)
{
    if (state < CCSWAP_MAXIMUM_WAIT_REASON)
        snprintf(text, size, "waits: %s", kmonitor_reason(state));
    else
        snprintf(text, size, "%s", kmonitor_state(state - CCSWAP_MAXIMUM_WAIT_REASON));
    return text;
}

static uint32_t little_endian(const uint8_t *at, unsigned bytes)
{
    uint32_t v = 0;
    for (unsigned i = bytes; i-- > 0;)
        v = v << 8 | at[i];
    return v;
}

static void describe(const uint8_t *at, const struct ccswap_buffer *header, char *text, size_t size)
{
    char state[40];
    const uint32_t first = little_endian(at, ccswap_record_bytes(at[0]) == 2 ? 2 : 4);
    const uint32_t second = ccswap_record_bytes(at[0]) == 8 ? little_endian(at + 4, 4) : 0;
    switch (at[0] & CCSWAP_TYPE_MASK) {
    case CCSWAP_IDLE_SHORT:
        snprintf(text, size, "IDLE_SHORT +%u: the idle thread gives way",
                 field(first, CCSWAP_IDLE_SHORT_DELTA_SHIFT, CCSWAP_IDLE_SHORT_DELTA_BITS));
        break;
    case CCSWAP_IDLE:
        snprintf(text, size, "IDLE +%u: the idle thread gives way",
                 field(first, CCSWAP_IDLE_DELTA_SHIFT, CCSWAP_IDLE_DELTA_BITS));
        break;
    case CCSWAP_LITE:
        snprintf(text, size, "LITE +%u: thread %u, %s", field(first, CCSWAP_LITE_DELTA_SHIFT, CCSWAP_LITE_DELTA_BITS),
                 header->tid_table[field(first, CCSWAP_LITE_TID_SHIFT, CCSWAP_TID_BITS)],
                 state_words(field(first, CCSWAP_LITE_STATE_SHIFT, CCSWAP_STATE_BITS), state, sizeof state));
        break;
    default:
        snprintf(text, size, "FULL +%u: thread %u, %s, next: priority %u, waited %u",
                 field(first, CCSWAP_FULL_DELTA_SHIFT, CCSWAP_FULL_DELTA_BITS),
                 header->tid_table[field(second, CCSWAP_FULL_TID_SHIFT, CCSWAP_TID_BITS)],
                 state_words(field(second, CCSWAP_FULL_STATE_SHIFT, CCSWAP_STATE_BITS), state, sizeof state),
                 field(second, CCSWAP_FULL_PRIORITY_SHIFT, CCSWAP_PRIORITY_BITS),
                 field(second, CCSWAP_FULL_WAIT_SHIFT, CCSWAP_FULL_WAIT_BITS));
    }
}

static void show_header(struct kmonitor *m, const struct ccswap_buffer *header)
{
    kmonitor_print(m, "   0 FirstTimeStamp   %016lx  %ld\n", (unsigned long)header->first_time_stamp,
                   (long)header->first_time_stamp);
    for (unsigned i = 0; i < CCSWAP_TIDS; i++)
        if (header->tid_table[i])
            kmonitor_print(m, "%4x TidTable[%u]%s      %08x          thread %u, base priority %d\n",
                           (unsigned)offsetof(struct ccswap_buffer, tid_table) + 4 * i, i, i < 10 ? " " : "",
                           header->tid_table[i], header->tid_table[i], header->thread_base_priority[i]);
}

void kmonitor_show_batch(struct kmonitor *m, const uint8_t *bytes, uint32_t used)
{
    struct ccswap_buffer header;
    if (used < sizeof header) {
        kmonitor_print(m, "  %u bytes: shorter than its header\n", used);
        return;
    }
    memcpy(&header, bytes, sizeof header);
    show_header(m, &header);
    for (uint32_t at = sizeof header, n; at < used; at += n) {
        char hex[20], text[96];
        n = ccswap_record_bytes(bytes[at]);
        if (n > used - at) {
            kmonitor_print(m, "%4x a record that is cut off\n", at);
            return;
        }
        size_t end = 0;
        for (uint32_t i = 0; i < n; i++)
            end += (size_t)snprintf(hex + end, sizeof hex - end, "%02x", bytes[at + i]);
        describe(bytes + at, &header, text, sizeof text);
        kmonitor_print(m, "%4x %-16s %s\n", at, hex, text);
    }
}
