/* SPDX-License-Identifier: MIT */
/* The card at the end of a run: its facts, and where it is shown. */
#include "kernel/card/card.h"

#include "arch/arch.h"
#include "ds/ds.h"
#include "kernel/card/qr.h"
#include "kernel/console/report.h"
#include "kernel/cpu.h"
#include "kernel/dump/dump.h"
#include "kernel/inventory/inventory.h"
#include "kernel/lib/card.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/phase.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/machine.h"
#include "kernel/screen/display.h"

static struct card card;
static bool panicked;

static void note_panic(const struct boot_info *none)
{
    (void)none;
    panicked = true;
}
KPHASE(KPHASE_PANIC, note_panic);

static void put(const char *name, const char *value)
{
    kcard_put(&card, name, value);
}

static void put_number(const char *name, const char *format, unsigned long value)
{
    char text[24];
    snprintf(text, sizeof text, format, value);
    put(name, text);
}

static void put_verdict(void)
{
    char text[48];
    uint32_t n[3];
    kreport_counts(n);
    snprintf(text, sizeof text, "%s,%u,%u,%u",
             panicked          ? "panic"
             : n[KREPORT_FAIL] ? "fail"
                               : "pass",
             n[KREPORT_PASS], n[KREPORT_FAIL], n[KREPORT_SKIP]);
    put("verdict", text);
}

/* CPUID 80000002H to 4, without blanks around it. */
static void put_brand(void)
{
    uint32_t r[13] = {0};
    char *text = (char *)r;
    size_t size;
    arch_cpuid(0x80000000, 0, r);
    if (r[0] < 0x80000004)
        return;
    for (unsigned i = 0; i < 3; i++)
        arch_cpuid(0x80000002 + i, 0, r + 4 * i);
    while (*text == ' ')
        text++;
    for (size = strlen(text); size && text[size - 1] == ' '; size--)
        text[size - 1] = '\0';
    put("brand", text);
}

static void put_processor(void)
{
    char hypervisor[13];
    uint32_t r[4];
    uint64_t microcode;
    arch_cpuid(1, 0, r);
    put_number("sig", "%lx", r[0]);
    if (kinventory_microcode(&microcode))
        put_number("ucode", "0x%lx", microcode);
    if (kcpu_count)
        put_number("cpus", "%lu", kcpu_count);
    kinventory_signature(hypervisor);
    if (kmachine_virtual())
        put("hv", hypervisor);
    put_brand();
}

static void put_caps(const char *pebs, const char *bts, const struct ds_caps *caps)
{
    if (caps->pebs)
        put_number(pebs, "%lu", caps->format);
    else
        put(pebs, "none");
    put(bts, caps->bts ? "yes" : "no");
}

static void put_debug_store(void)
{
    if (kds->backend)
        put("ds", kds->backend);
    if (kds->caps)
        put_caps("pebs", "bts", kds->caps);
    if (kds->hw_caps && kds->hw_caps != kds->caps)
        put_caps("hw.pebs", "hw.bts", kds->hw_caps);
}

static void compose(void)
{
    const struct kcard_row *const *row;
    put("cairn", CAIRN_VERSION);
    put_verdict();
    put_processor();
    put_debug_store();
    if (kdump_panic_line())
        put("panic", kdump_panic_line());
    for (ROWS_EACH(kcard, row))
        (*row)->tell(put);
    kcard_end(&card);
}

/* Once: what goes wrong here ends the run again. */
static void show(const struct boot_info *none)
{
    static struct qr qr;
    static bool begun;
    (void)none;
    if (begun)
        return;
    begun = true;
    compose();
    for (const char *row = card.text, *end; (end = strchr(row, '\n')) != NULL; row = end + 1)
        kprintf("%.*s\n", (int)(end - row), row);
    const bool drawn = kcard_qr(&qr, card.text, card.size) == 0;
    kscreen_card(card.text, drawn ? &qr.module[0][0] : NULL, qr.size, QR_MOST_SIZE);
}
KPHASE(KPHASE_SUMMARY, show);
