/* SPDX-License-Identifier: MIT */
#include "arch/arch.h"
#include "arch/brand.h"
#include "ds/caps.h"
#include "ds/layout.h"
#include "kernel/card/card.h"
#include "kernel/lib/string.h"

static void put_number(struct card *card, const char *name, const char *format, unsigned long value)
{
    char text[24];
    snprintf(text, sizeof text, format, value);
    kcard_put(card, name, text);
}

void kcard_processor(struct card *card, const uint64_t *microcode, uint32_t cpus)
{
    char text[ARCH_BRAND];
    uint32_t r[4];
    arch_cpuid(1, 0, r);
    put_number(card, "sig", "%lx", r[0]);
    if (microcode)
        put_number(card, "ucode", "0x%lx", *microcode);
    if (cpus)
        put_number(card, "cpus", "%lu", cpus);
    if (r[2] & CPUID_01H_ECX_HYPERVISOR) {
        arch_cpuid(CPUID_HYPERVISOR, 0, r);
        snprintf(text, sizeof text, "%.12s", (const char *)&r[1]);
        kcard_put(card, "hv", text);
    }
    const char *brand = arch_brand(text);
    if (*brand)
        kcard_put(card, "brand", brand);
}

void kcard_caps(struct card *card, const char *pebs, const char *bts, const struct ds_caps *caps)
{
    if (caps->pebs)
        put_number(card, pebs, "%lu", caps->format);
    else
        kcard_put(card, pebs, "none");
    kcard_put(card, bts, caps->bts ? "yes" : "no");
}
