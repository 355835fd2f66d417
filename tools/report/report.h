/* SPDX-License-Identifier: MIT */
/*
 * cairn-report.efi: what a machine is, and what its Debug Store answers, in a text file on the volume that it was
 * started from. It stays inside boot services, runs on the boot processor alone, and gives back every register that it
 * changes, so the firmware goes on as before. There are two exceptions: bits of IA32_PERF_GLOBAL_STATUS that were set
 * are cleared, and CR4 lets SSE be used where the firmware did not (boot_allow_sse). What the files share.
 */
#pragma once

#include <efi.h>
#include <efilib.h>
#include <stdbool.h>

#include "arch/trapframe.h"
#include "ds/caps.h"

/* ---- out.c: the file --------------------------------------------------------------------------------------------- */

#define REPORT_LINE 512u /* characters of a line; the rest is cut off */

/* Makes the file, \cairn-machine.txt or the next free name, and reads those of runs of this `machine` before this one.
 * On failure, which report_flush returns, lines are on the screen alone. */
void report_open(EFI_FILE_HANDLE root, const char *machine);
/* A line of the file, kept in memory until report_flush. */
void report_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and on the screen; not within report_call. */
void report_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line that says what is done next; it is on the volume and on the screen when this returns. False: a run of this
 * machine before this one has ended with that line, so the step is not to be done again, and a line says so. Not within
 * report_call. */
bool report_step(const char *name);
#define REPORT_TOO_MANY EFI_OUT_OF_RESOURCES /* no name is free */
/* What has been written is on the volume then, in a file that is closed; not within report_call. Returns the first
 * error of writing, if there was one: REPORT_TOO_MANY; EFI_VOLUME_FULL, of a read-only volume, too. */
EFI_STATUS report_flush(void);
bool report_has_file(void);
/* Whether a line has been written that begins with stopped=. */
bool report_stopped(void);

/* ---- screen.c: neither within report_call ------------------------------------------------------------------------ */

/* A line with its line feed, of up to REPORT_LINE characters. */
void report_show(const char *line, size_t size);
/* The name of a step, until the next line or name takes its place. */
void report_show_step(const char *name);

/* ---- take.c: the processor, for a while -------------------------------------------------------------------------- */

struct report_trap {                      /* an exception that nobody expected */
    uint64_t vector, error, rip, address; /* the last: CR2 */
    uint64_t rcx;                         /* of a #GP: the MSR, if RDMSR or WRMSR raised it */
};
/* A line for it, on the screen as well. */
void report_say_trap(const char *during, const struct report_trap *trap);

/* Reads what report_call needs of the firmware. NULL, or why the processor cannot be taken. */
const char *report_take_check(void);
/* Calls `f` with interrupts off and no interrupt but that of LVTPC let in, exceptions caught. 0, or -EFAULT: an
 * exception has ended it, in *trap. */
int report_call(void (*f)(void *), void *argument, struct report_trap *trap);
/* Within such a call: the firmware gets the processor back for a moment, and gives it again. */
void report_lend(void);
void report_lend_end(void);

/* apic.c: at the address of IA32_APIC_BASE, in its mode. Both may end in an exception; giving goes on then where it is
 * called again. */
void report_apic_is_at(uint64_t base);
void report_apic_take(void *unused);
void report_apic_give(void *unused);

#define REPORT_VECTOR 0xF5u /* of LVTPC meanwhile: above the firmware's, which the task priority holds back */
extern volatile uint32_t report_pmis;
extern volatile uint32_t report_nmis, report_strays; /* what came all the same */

/* ---- processor.c ------------------------------------------------------------------------------------------------- */

/* The step that writes all of CPUID. */
void report_cpuid(void);
/* MSRs, and what detection makes of them: the file has them then. NULL where that has failed. */
const struct ds_caps *report_processor(void);
/* After a step that changes registers: gives back what may not have been, where an exception ended it. */
void report_processor_restore(void);
/* Whether each register is as it was at first; a line for each that is not. */
void report_processor_compare(void);
/* The processor's name; its microcode, false: it has not been read, or cannot be. */
const char *report_brand(void);
bool report_microcode(uint64_t *version);
/* What an MSR was at first; likewise. */
bool report_msr(uint32_t number, uint64_t *value);

/* ---- firmware.c, probe.c, hello.c -------------------------------------------------------------------------------- */

void report_firmware(void);
/* The steps that write memory and screen modes, and those that write SMBIOS and ACPI; `caught`: with report_call. */
void report_machine(void);
void report_tables(bool caught);
void report_hello(void);
void report_probe(const struct ds_caps *caps);
/* Calls `put` for each answer that there is. */
void report_probe_answers(void (*put)(const char *name, const char *value));

/* ---- card.c: the last words on the screen. `caps`: NULL where the processor could not be asked. */
void report_card(const struct ds_caps *caps);
/* Its QR code, where the screen has room for it: when no line is to follow, which could move it. */
void report_card_draw(void);

/* ---- menu.c: afterwards. `whole`: the volume can be written. `store`: there may be a Debug Store. Returns what the
 * firmware is told. */
EFI_STATUS report_menu(EFI_HANDLE image, EFI_FILE_HANDLE root, bool whole, bool store);
