/* SPDX-License-Identifier: MIT */
/* What the log in memory does in a run: it is one of the console's sinks, and its end is a reset. */
#include "arch/arch.h"
#include "arch/power/power.h"
#include "arch/serial.h"
#include "kernel/console/end.h"
#include "kernel/console/print.h"
#include "kernel/console/report.h"
#include "kernel/console/sinks.h"
#include "kernel/lib/print.h"
#include "kernel/options/options.h"
#include "kernel/phase.h"
#include "kernel/power/power.h"
#include "kernel/save/saved_log.h"

static void write_text(void *context, const char *text, size_t size)
{
    (void)context;
    kprint_lines(ksave_write, text, size);
}

static void write_dump(void *context, const char *data, size_t size)
{
    (void)context;
    ksave_write(data, size);
}

static const struct console_sink sink = {.write = write_text, .dump = write_dump, .way = "into memory (save=esp)"};

void kconsole_announce(uint64_t bytes)
{
    ksave_announce(bytes);
}

static void begin(const struct boot_info *info)
{
    ksave_begin(info);
    if (!ksave_on())
        return;
    arch_reset_warm = true;
    kpower_then = "; then choose the stick again";
    kconsole_add(&sink);
}
KPHASE(KPHASE_OPTIONS, begin);

static void tell(const struct boot_info *info)
{
    for (unsigned i = 0; i < BOOT_SAVE_NOTES && info->save_notes[i][0]; i++)
        kreport(KREPORT_SKIP, "save", "%.*s", BOOT_SAVE_NOTE, info->save_notes[i]);
}
KPHASE(KPHASE_MEMORY, tell);

/* Not before: other options may be wrong, which says more. */
static void require(const struct boot_info *info)
{
    (void)info;
    if (ksave_asked && !ksave_on())
        kend_failed("save", "save=esp, but the loader has found another value: write it on a line of its own");
}
KPHASE(KPHASE_CLOCK, require);

static void report(const struct boot_info *none)
{
    (void)none;
    ksave_report();
}
KPHASE(KPHASE_DUMPED, report);

/* Whatever option end= says: it may be that options are wrong. */
static void finish(const struct boot_info *none)
{
    (void)none;
    if (!ksave_on())
        return;
    kprintf("save: choose the stick in the boot menu again (F12, F9, F10, F11 or Esc):\n"
            "save: its next start writes this log to a file\n");
    arch_serial_drain();
    const bool on = kprint_lock();
    ksave_finish();
    kprint_unlock(on);
    kopt.end = KOPT_END_REBOOT;
}
KPHASE(KPHASE_END, finish);
