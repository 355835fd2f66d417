/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/options.h"
#include "ds/model/variant/variant.h"
#include "ds/policy/table/table.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#define HOST_HAS_TSC true
#else
#define HOST_HAS_TSC false
#endif

enum { KNOWN = 320 }; /* room for a list of all that may be said */

__attribute__((format(printf, 3, 4))) static int refuse(char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    return -EINVAL;
}

static void add_word(char known[KNOWN], const char *word)
{
    const size_t length = strlen(known);
    snprintf(known + length, KNOWN - length, "%s%s", length ? " " : "", word);
}

static int set_preset(struct qds_options *o, const char *name, char *why, size_t size)
{
    char known[KNOWN] = "";
    o->preset = ds_model_preset(name);
    if (o->preset)
        return 0;
    for (const struct ds_model_preset *p = ds_model_preset_after(NULL); p; p = ds_model_preset_after(p))
        add_word(known, p->name);
    return refuse(why, size, "preset=%s: not one of %s", name, known);
}

static int set_switch(bool *to, const char *argument, const char *value, char *why, size_t size)
{
    *to = strcmp(value, "on") == 0;
    return *to || strcmp(value, "off") == 0 ? 0 : refuse(why, size, "%s: must be on or off", argument);
}

/* Also where it fails. */
static bool set_number(unsigned *to, const char *value)
{
    char *end;
    const unsigned long n = strtoul(value, &end, 10);
    *to = (unsigned)n;
    return *value >= '1' && *value <= '9' && !*end && n < UINT_MAX;
}

static int set_efficient(struct qds_options *o, const char *argument, const char *value, char *why, size_t size)
{
    return set_number(&o->efficient, value)
               ? 0
               : refuse(why, size, "%s: must be the number of a vCPU, from 1 on", argument);
}

static int set_reference(struct qds_options *o, const char *argument, const char *value, char *why, size_t size)
{
    o->reference = strcmp(value, "tsc") == 0;
    if (!o->reference && strcmp(value, "cycles") != 0)
        return refuse(why, size, "%s: must be tsc or cycles", argument);
    return !o->reference || HOST_HAS_TSC ? 0 : refuse(why, size, "%s: this host has no TSC", argument);
}

/* "17", or "RDMSR:1A6" */
static int set_refuse(struct qds_options *o, const char *argument, const char *value, char *why, size_t size)
{
    struct qds_refused *r = &o->refused;
    *r = (struct qds_refused){.read = strncmp(value, "RDMSR:", 6) == 0, .write = strncmp(value, "WRMSR:", 6) == 0};
    if (!r->read && !r->write)
        return set_number(&r->number, value)
                   ? 0
                   : refuse(why, size, "%s: must be the number of an access, from 1 on, or RDMSR:MSR or WRMSR:MSR",
                            argument);
    char *end;
    const unsigned long msr = strtoul(value + 6, &end, 16);
    r->msr = (uint32_t)msr;
    return isxdigit((unsigned char)value[6]) && !*end && msr <= UINT32_MAX
               ? 0
               : refuse(why, size, "%s: must name an MSR by its hexadecimal number", argument);
}

static int make_little(struct qds_options *o, char *why, size_t size)
{
    if (o->efficient != UINT_MAX && !ds_model_efficient(o->preset, &o->little))
        return refuse(why, size, "efficient=%u: preset %s is not of a hybrid processor", o->efficient, o->preset->name);
    return 0;
}

static int make_guest(struct qds_options *o, char *why, size_t size)
{
    if (!o->kvm)
        return 0;
    o->guest = *o->preset;
    if (ds_model_kvm_guest(&o->guest))
        return refuse(why, size, "kvm=on: preset %s is a hybrid processor, and KVM shows no counters of those",
                      o->preset->name);
    o->preset = &o->guest;
    return 0;
}

static int set_memory(struct qds_options *o, const char *argument, const char *value, char *why, size_t size)
{
    o->memory = strcmp(value, "model") == 0;
    return o->memory || strcmp(value, "off") == 0 ? 0 : refuse(why, size, "%s: must be model or off", argument);
}

static int set_cpi(struct qds_options *o, const char *argument, const char *value, char *why, size_t size)
{
    o->cpi = qds_memory_cpi(value);
    return o->cpi ? 0
                  : refuse(why, size, "%s: must be cycles of an instruction, from 0.01 to 100, as in 0.25", argument);
}

/* Options of the memory system hold whether they come before the preset or behind it. */
static int make_memory(struct qds_options *o, int count, const char *const *arguments, char *why, size_t size)
{
    if (!o->memory && o->cpi)
        return refuse(why, size, "cpi=: only with memory=model");
    if (o->memory && !qds_memory_preset(o->preset, o->efficient, &o->memory_config))
        return refuse(why, size, "memory=model: not with preset %s, which has no L3 cache", o->preset->name);
    for (int i = 0; i < count; i++) {
        const char *a = arguments[i];
        if (strncmp(a, "memory.", 7) != 0)
            continue;
        if (!o->memory)
            return refuse(why, size, "%s: only with memory=model", a);
        const int e = qds_memory_option(&o->memory_config, a + 7, why, size);
        if (e)
            return e;
    }
    if (!o->memory)
        return 0;
    o->cpi = o->cpi ? o->cpi : QDS_UNITS_OF_A_CYCLE;
    return 0;
}

static void make_hosted(struct qds_options *o)
{
    o->hosted = *o->preset;
    o->hosted.memory = o->memory ? &ds_model_memory : NULL;
    o->hosted.cpi = (uint16_t)o->cpi;
    o->hosted.reference = o->reference;
    o->preset = &o->hosted;
}

/* What would be right: the names of all policies, or the values of one. */
static void list_policies(char known[KNOWN], const char *name)
{
    for (size_t i = 0; i < DS_MODEL_POLICIES; i++) {
        const struct ds_model_policy_row *row = &ds_model_policies[i];
        if (!name)
            add_word(known, row->name);
        else if (strcmp(row->name, name) == 0)
            for (size_t v = 0; row->values[v]; v++)
                add_word(known, row->values[v]);
    }
}

static int set_policy(struct qds_options *o, const char *name, const char *value, char *why, size_t size)
{
    char key[32], known[KNOWN] = "";
    snprintf(key, sizeof key, "%.*s", (int)strcspn(name, "="), name);
    switch (ds_model_policy_set(&o->policy, key, value)) {
    case 0:
        if (o->policy.unmapped_page_fault)
            return refuse(why, size, "policy.%s=%s: not possible here: a plugin cannot raise a page fault", key, value);
        if (o->policy.residual)
            return refuse(why, size,
                          "policy.%s=%s: not possible here: records are stored when an instruction "
                          "retires, not later",
                          key, value);
        return 0;
    case -ENOENT:
        list_policies(known, NULL);
        return refuse(why, size, "policy.%s: not one of %s", key, known);
    default:
        list_policies(known, key);
        return refuse(why, size, "policy.%s=%s: not one of %s", key, value, known);
    }
}

int qds_options_parse(struct qds_options *o, int count, const char *const *arguments, char *why, size_t size)
{
    *o = (struct qds_options){
        .preset = ds_model_preset("icelake"), .efficient = UINT_MAX, .reference = HOST_HAS_TSC, .instructions = true};
    for (int i = 0; i < count; i++) {
        const char *a = arguments[i], *value = strchr(a, '=');
        int e;
        if (!value++)
            return refuse(why, size, "%s: not of the form option=value", a);
        if (strncmp(a, "preset=", 7) == 0)
            e = set_preset(o, value, why, size);
        else if (strncmp(a, "efficient=", 10) == 0)
            e = set_efficient(o, a, value, why, size);
        else if (strncmp(a, "exact=", 6) == 0) {
            o->exact_flags = strcmp(value, "flags") == 0;
            e = o->exact_flags ? 0 : refuse(why, size, "%s: can only be exact=flags", a);
        } else if (strncmp(a, "kvm=", 4) == 0)
            e = set_switch(&o->kvm, a, value, why, size);
        else if (strncmp(a, "refuse=", 7) == 0)
            e = set_refuse(o, a, value, why, size);
        else if (strncmp(a, "stats=", 6) == 0)
            e = set_switch(&o->stats, a, value, why, size);
        else if (strncmp(a, "ready=", 6) == 0)
            e = set_switch(&o->ready, a, value, why, size);
        else if (strncmp(a, "truth=", 6) == 0) {
            o->truth = value;
            e = *value ? 0 : refuse(why, size, "truth=: names no file");
        } else if (strncmp(a, "instructions=", 13) == 0)
            e = set_switch(&o->instructions, a, value, why, size);
        else if (strncmp(a, "memory=", 7) == 0)
            e = set_memory(o, a, value, why, size);
        else if (strncmp(a, "memory.", 7) == 0)
            e = 0; /* make_memory */
        else if (strncmp(a, "ref=", 4) == 0)
            e = set_reference(o, a, value, why, size);
        else if (strncmp(a, "cpi=", 4) == 0)
            e = set_cpi(o, a, value, why, size);
        else if (strncmp(a, "policy.", 7) == 0)
            e = set_policy(o, a + 7, value, why, size);
        else
            e = refuse(why, size,
                       "%s: not an option: there are preset, efficient, kvm, exact, truth, instructions, ready, "
                       "refuse, stats, policy.NAME, memory, memory.NAME, cpi, ref",
                       a);
        if (e)
            return e;
    }
    int e = make_memory(o, count, arguments, why, size);
    make_hosted(o);
    e = e ? e : make_little(o, why, size);
    return e ? e : make_guest(o, why, size);
}
