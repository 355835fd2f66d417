/* SPDX-License-Identifier: MIT */
/* The card at the end of a run: its facts, and where it is shown. */
#include "kernel/card/card.h"

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

static void put_processor(void)
{
    uint64_t microcode;
    kcard_processor(&card, kinventory_microcode(&microcode) ? &microcode : NULL, kcpu_count);
}

static void put_debug_store(void)
{
    if (kds->backend)
        put("ds", kds->backend);
    if (kds->caps)
        kcard_caps(&card, "pebs", "bts", kds->caps);
    if (kds->hw_caps && kds->hw_caps != kds->caps)
        kcard_caps(&card, "hw.pebs", "hw.bts", kds->hw_caps);
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
