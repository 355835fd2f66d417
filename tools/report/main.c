/* SPDX-License-Identifier: MIT */
/*
 * The report, in the order of its steps: from what can do no harm to what may hang a machine. What a step finds is on
 * the volume before the next one begins. CPUID is the first step: the processor need not be taken for it, and it does
 * not depend on the firmware's tables.
 */
#include "arch/instructions.h"
#include "boot/elf.h"
#include "boot/loader.h"
#include "kernel/lib/string.h"
#include "tools/report/report.h"

#define HELLO_COUNTER 1u /* of labs/00-hello/hello.c */

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *table);

/* What boot/ needs of a loader (boot/loader.h). */
EFI_STATUS boot_fail(const CHAR16 *what, const CHAR16 *reason, EFI_STATUS status)
{
    Print(L"cairn-report: %s: %s (%r)\n", what, reason, status);
    return status;
}

void *boot_alloc(uint64_t pages)
{
    EFI_PHYSICAL_ADDRESS at = BOOT_END - 1;
    if (EFI_ERROR(BS->AllocatePages(AllocateMaxAddress, EfiLoaderData, pages, &at)))
        return NULL;
    memset((void *)(uintptr_t)at, 0, pages * BOOT_PAGE_SIZE);
    return (void *)(uintptr_t)at;
}

static void nothing(void *unused)
{
    (void)unused;
}

/* Whether the processor can be taken. A machine that hangs here is not asked again what needs that. */
static bool try_to_take(void)
{
    struct report_trap trap;
    if (!report_step("take"))
        return false;
    const char *why_not = report_take_check();
    if (why_not)
        report_say("stopped=%s", why_not);
    else if (report_call(nothing, NULL, &trap))
        report_say_trap("take", &trap);
    else
        return true;
    return false;
}

/* NULL: its registers could not be read. */
static const struct ds_caps *look_at_processor(void)
{
    const struct ds_caps *caps = report_step("msrs") ? report_processor() : NULL;
    if (!caps)
        return NULL;
    report_flush();
    if (!caps->pebs || caps->instead || !(caps->pebs_counters >> HELLO_COUNTER & 1)) {
        report_line("skipped.hello=it samples with IA32_PMC1 and the Debug Store");
    } else if (report_step("hello")) {
        report_hello();
        report_processor_restore();
    }
    if (caps->pebs || caps->bts) {
        report_probe(caps);
        report_processor_restore();
    }
    report_processor_compare();
    if (caps->in_use[0] && (caps->pebs || caps->bts))
        report_say("taken=what was in use, for the questions; it has been given back");
    return caps;
}

/* The steps. NULL: as look_at_processor. */
static const struct ds_caps *look(void)
{
    report_firmware();
    report_cpuid();
    report_machine();
    const bool taken = try_to_take();
    report_tables(taken);
    return taken ? look_at_processor() : NULL;
}

/* Which machine it is, as far as a stick that goes from one to another must know. */
static void name_machine(char machine[REPORT_LINE])
{
    uint32_t r[4];
    arch_cpuid(1, 0, r);
    snprintf(machine, REPORT_LINE, "%08x %.48s %08x", r[0], report_brand(), ST->FirmwareRevision);
}

static void say_no_file(EFI_STATUS status)
{
    if (status == EFI_VOLUME_FULL) /* a report takes less, but traces need it */
        Print(L"There is no file: the stick is full or read-only. Free 150 MiB and start again,\r\n"
              L"or send a photograph of the screen\r\n");
    else if (status == REPORT_TOO_MANY)
        Print(L"There is no file: the stick has 99 reports. Move some away and start again,\r\n"
              L"or send a photograph of the screen\r\n");
    else
        Print(L"There is no file (%r): send a photograph of the screen\r\n", status);
}

/* What to send, as the page says it. */
static void say_end(EFI_STATUS status)
{
    if (!report_has_file())
        say_no_file(status);
    else if (EFI_ERROR(status))
        Print(L"The file is not whole (%r): send a photograph of the screen, too\r\n", status);
    else
        Print(L"Send all files cairn-* of this stick, or a photograph: nothing else is needed\r\n");
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *table)
{
    char notes[BOOT_SAVE_NOTES][BOOT_SAVE_NOTE] = {""}; /* of a run of Cairn before this start */
    char machine[REPORT_LINE];
    EFI_FILE_HANDLE root;
    boot_allow_sse();
    InitializeLib(image, table);
    BS->SetWatchdogTimer(0, 0, 0, NULL); /* else the firmware resets the machine after five minutes */
    ST->ConOut->ClearScreen(ST->ConOut);
    Print(L"\r\ncairn-report %a\r\n", CAIRN_VERSION);
    EFI_STATUS status = boot_volume_open(image, &root);
    if (EFI_ERROR(status))
        return status;
    boot_look(root, notes); /* does not return where a run of Cairn has left its log in memory */
    name_machine(machine);
    report_open(root, machine);
    for (unsigned i = 0; i < BOOT_SAVE_NOTES && notes[i][0]; i++)
        report_say("save.note=%s", notes[i]);
    const struct ds_caps *caps = look();
    report_card(caps);
    report_line("end=all steps are done");
    status = report_flush();
    say_end(status);
    status = report_menu(image, root, !EFI_ERROR(status), !caps || caps->pebs || caps->bts);
    root->Close(root);
    return status;
}
