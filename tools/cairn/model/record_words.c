/* SPDX-License-Identifier: MIT */
/* What the words of a PEBS record mean. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ds/lbr_layout.h"
#include "ds/pebs23_layout.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/arch_bits.h"
#include "tools/cairn/model/counters.h"
#include "tools/cairn/model/ds_words.h"
#include "tools/cairn/model/pebs_memory.h"
#include "tools/pebs/pebs.h"

static void show_counter(char out[CAIRN_SHOWN], const struct cairn_counters *on, unsigned counter)
{
    const struct cairn_counter *c = cairn_counters_find(on, counter);
    int used = snprintf(out, CAIRN_SHOWN, "%s%u", counter < DS_COUNTER_FIXED ? "PMC" : "FIXED_CTR",
                        counter % DS_COUNTER_FIXED);
    if (c && c->event.size)
        snprintf(out + used, CAIRN_SHOWN - (size_t)used, "=%.*s", c->event.size < 40 ? (int)c->event.size : 40,
                 c->event.at); /* no kernel's is longer */
}

const char *cairn_show_counter(char out[CAIRN_SHOWN], const struct cairn_log *log, uint32_t cpu, unsigned counter)
{
    struct cairn_counters on;
    cairn_counters_read(&on, &log->text, cpu);
    show_counter(out, &on, counter);
    return out;
}

const char *cairn_show_counters(char out[CAIRN_SHOWN_ALL], const struct cairn_log *log, uint32_t cpu, uint64_t bits)
{
    struct cairn_counters on;
    char *to = out;
    cairn_counters_read(&on, &log->text, cpu);
    *to = '\0';
    for (unsigned i = 0; i < DS_COUNTER_NUMBERS; i++) {
        if (!(bits & DS_BIT(i)))
            continue;
        if (to != out)
            *to++ = ' ';
        show_counter(to, &on, i);
        to += strlen(to);
    }
    return out;
}

static void show_head(char out[CAIRN_SHOWN_ALL], const struct cairn_log *log, uint32_t cpu,
                      const struct cairn_record *r, uint64_t head)
{
    char groups[CAIRN_SHOWN], latency[CAIRN_SHOWN];
    uint64_t counters = 0;
    static const char *const names[] = {"MEMINFO", "GPR", "XMM", "LBR", "CNTR", "METRICS"};
    cairn_show_bits(groups, ds_pebs_head_groups(head), " ", names, 6);
    int used = snprintf(out, CAIRN_SHOWN, "%" PRIu32 " bytes, %s%.60s", ds_pebs_head_size(head),
                        groups[0] ? "BASIC " : "BASIC only", groups);
    cairn_pebs_get(r->format, r->at, r->size, CAIRN_PEBS_COUNTERS, &counters);
    if (*cairn_show_retire_latency(latency, log, cpu, head, counters))
        snprintf(out + used, CAIRN_SHOWN_ALL - (size_t)used, ", %s", latency);
}

static void show_status(char out[CAIRN_SHOWN_ALL], const struct cairn_log *log, uint32_t cpu, uint64_t status)
{
    cairn_show_counters(out, log, cpu, status);
    if (status & IA32_PERF_GLOBAL_STATUS_OVF_BUF)
        strcat(out, *out ? " OvfBuf" : "OvfBuf");
}

/* The header of a record of architectural PEBS, or of one of its fragments. */
static void show_fragment(char out[CAIRN_SHOWN_ALL], uint64_t header)
{
    char groups[CAIRN_SHOWN];
    if (ds_arch_header_null(header)) {
        snprintf(out, CAIRN_SHOWN, "%" PRIu32 " bytes, null: the record begins after it", ds_arch_header_size(header));
        return;
    }
    cairn_show_groups(groups, header);
    const uint64_t reserved = header & ~cairn_bits_all(cairn_bits_header);
    int used =
        snprintf(out, CAIRN_SHOWN_ALL, "%" PRIu32 " bytes, %s%s%s%s", ds_arch_header_size(header),
                 groups[0] ? groups : "no group", groups[0] && header >> 63 && !strchr(groups, ' ') ? " only" : "",
                 header & DS_ARCH_HEADER_MODE64 ? ", 64-bit mode" : "",
                 header & DS_ARCH_HEADER_CONT ? ", continues in the next fragment" : "");
    if (reserved)
        snprintf(out + used, CAIRN_SHOWN_ALL - (size_t)used, ", reserved bits %" PRIX64 "H", reserved);
}

/* False: it is none that only architectural PEBS has. */
static bool show_arch_field(char out[CAIRN_SHOWN_ALL], const struct cairn_log *log, const struct cairn_pebs_field *f)
{
    static const char *const components[] = {NULL, "XMM", "YMMH", NULL, NULL, "OPMASK", "ZMMH", "H16ZMM"};
    switch (f->what) {
    case CAIRN_PEBS_FRAGMENT:
        show_fragment(out, f->value);
        return true;
    case CAIRN_PEBS_RETIRE:
        if (f->value & DS_ARCH_RETIRE_VALID)
            snprintf(out, CAIRN_SHOWN, "retire latency %u", (unsigned)(f->value & DS_ARCH_RETIRE_LATENCY));
        else
            snprintf(out, CAIRN_SHOWN, "no retire latency: not valid");
        return true;
    case CAIRN_PEBS_XSTATE:
        cairn_show_bits(out, f->value, " ", components, sizeof(components) / sizeof(components[0]));
        if (!f->value)
            snprintf(out, CAIRN_SHOWN, "no area has values");
        return true;
    case CAIRN_PEBS_LER_FROM:
    case CAIRN_PEBS_LER_TO:
        if (f->value)
            cairn_show_address(out, log, f->value, 32);
        return true;
    default:
        return false;
    }
}

/* "mispredicted", and how often events have occurred since the entry before: "2 of PMC0". */
static void show_info(char out[CAIRN_SHOWN_ALL], uint64_t info)
{
    size_t at = 0;
    *out = '\0';
    if (info & DS_LBR_INFO_MISPRED)
        at += (size_t)snprintf(out, CAIRN_SHOWN_ALL, "mispredicted");
    for (unsigned n = 0; n < DS_LBR_LOGGED; n++) {
        const unsigned times = (unsigned)ds_lbr_info_logged(info, n);
        if (times)
            at += (size_t)snprintf(out + at, CAIRN_SHOWN_ALL - at, "%s%u%s of PMC%u", at ? ", " : "", times,
                                   times == DS_LBR_LOGGED_MOST ? " or more" : "", n);
    }
}

const char *cairn_show_field(char out[CAIRN_SHOWN_ALL], const struct cairn_log *log, uint32_t cpu,
                             const struct cairn_record *r, const struct cairn_pebs_field *f)
{
    static const char *const flags[] = {"CF", NULL, "PF", NULL, "AF", NULL, "ZF", "SF", "TF", "IF", "DF",
                                        "OF", NULL, NULL, "NT", NULL, "RF", NULL, "AC", NULL, NULL, "ID"};
    out[0] = '\0';
    if (show_arch_field(out, log, f))
        return out;
    switch (f->what) {
    case CAIRN_PEBS_HEAD:
        show_head(out, log, cpu, r, f->value);
        break;
    case CAIRN_PEBS_EVENTING_IP:
    case CAIRN_PEBS_RIP:
    case CAIRN_PEBS_LBR_FROM:
    case CAIRN_PEBS_LBR_TO:
    case CAIRN_PEBS_BTS_FROM:
    case CAIRN_PEBS_BTS_TO:
        if (f->value)
            cairn_show_address(out, log, f->value, 32);
        break;
    case CAIRN_PEBS_COUNTERS:
        cairn_show_counters(out, log, cpu, f->value);
        break;
    case CAIRN_PEBS_STATUS:
        show_status(out, log, cpu, f->value);
        break;
    case CAIRN_PEBS_TSC:
        if (r->timed)
            cairn_show_moment(out, log, r->time);
        break;
    case CAIRN_PEBS_RFLAGS:
        cairn_show_bits(out, f->value, " ", flags, sizeof(flags) / sizeof(flags[0]));
        break;
    case CAIRN_PEBS_DATA_ADDRESS:
    case CAIRN_PEBS_DATA_SOURCE:
    case CAIRN_PEBS_LATENCY:
        if (!f->value)
            snprintf(out, CAIRN_SHOWN, "not told");
        else if (f->what == CAIRN_PEBS_DATA_SOURCE)
            cairn_show_source(out, log, cpu, r, f->value);
        else if (f->what == CAIRN_PEBS_LATENCY)
            cairn_show_latency(out, f->value, r->format >= 4);
        break;
    case CAIRN_PEBS_TX:
        if (f->value)
            cairn_show_transaction(out, f->value);
        break;
    case CAIRN_PEBS_LBR_INFO:
        show_info(out, f->value);
        break;
    case CAIRN_PEBS_BTS_FLAGS:
        if (f->value & DS_BTS_PREDICTED)
            snprintf(out, CAIRN_SHOWN, "predicted");
        break;
    case CAIRN_PEBS_CNTR_MASKS:
        snprintf(out, CAIRN_SHOWN, "of %d PMC, %d FIXED_CTR", __builtin_popcount((uint32_t)f->value),
                 __builtin_popcount((uint32_t)(f->value >> 32)));
        break;
    default:
        break;
    }
    return out;
}
