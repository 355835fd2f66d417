/* SPDX-License-Identifier: MIT */
/*
 * The loader's part of save=esp. It prepares the memory in which the kernel keeps the log of a run. At the next start,
 * before anything else, it makes a file of that log (docs/explain/boot.md, "Saving the trace over a reset").
 *
 * A file, \cairn.run, says where the log is. A search for a magic number could not tell a lost log from none, and some
 * firmware forgets its variables at a reset: the machine would then run and reset without end. The log lies in the
 * middle of a free range, because firmware allocates from both ends. Its type is EfiLoaderData: a reserved type would
 * not help, because the next start builds a new map. The next start allocates nothing before it has asked for these
 * pages. Sources: UEFI specification, "Variable Services", "EFI_BOOT_SERVICES.AllocatePages()", "File Protocol"; TCG
 * Platform Reset Attack Mitigation Specification, "Interface for UEFI".
 */
#include "arch/instructions.h"
#include "boot/config/config.h"
#include "boot/loader.h"
#include "boot/save/append.h"
#include "boot/save/exists.h"
#include "boot/save/machine.h"
#include "boot/save/memory_key.h"
#include "boot/save/middle.h"
#include "boot/save/room.h"
#include "boot/save/save_check.h"
#include "kernel/lib/crc32c.h"
#include "kernel/lib/number.h"

#define HIGHEST     (UINT64_C(4) << 30) /* below it: firmware reaches all of this memory early, and so do old ones */
#define FILES       1000u
#define OFF_SECONDS 10u

#define NEXT_ATTRIBUTES (EFI_VARIABLE_NON_VOLATILE | EFI_VARIABLE_BOOTSERVICE_ACCESS | EFI_VARIABLE_RUNTIME_ACCESS)
#define CREATE          (EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE)

static EFI_GUID global_guid = EFI_GLOBAL_VARIABLE;
static CHAR16 note_name[] = SAVE_NOTE_NAME;
static CHAR16 report_name[] = L"\\cairn-machine.txt";
static CHAR16 current_name[] = L"BootCurrent";
static CHAR16 next_name[] = L"BootNext";
static const CHAR16 unwritable[] = L"cannot be written: is there room on the volume, and is it writable?";

/* `first` and `second` behind each other, cut where there is no room, as one more note for the kernel to say. */
static void add_note(char notes[BOOT_SAVE_NOTES][BOOT_SAVE_NOTE], const char *first, const char *second)
{
    unsigned i = 0;
    while (i < BOOT_SAVE_NOTES - 1 && notes[i][0])
        i++;
    notes[i][0] = 0;
    save_append(notes[i], BOOT_SAVE_NOTE, first);
    save_append(notes[i], BOOT_SAVE_NOTE, second);
}

static __attribute__((noreturn)) void halt(void)
{
    for (;;)
        BS->Stall(1000000);
}

/* A machine without a screen tells by this, too, that it is done. */
static __attribute__((noreturn)) void switch_off(void)
{
    Print(L"cairn loader: the machine switches off in %d s\n", OFF_SECONDS);
    BS->Stall(OFF_SECONDS * 1000000);
    RT->ResetSystem(EfiResetShutdown, EFI_SUCCESS, 0, NULL);
    halt();
}

/* The volume does not take the log; a line has said why. */
static __attribute__((noreturn)) void wait_for_another_try(void)
{
    Print(L"cairn loader: the log stays in memory. For another try reset the machine, do not switch it off.\n");
    halt();
}

/* ---- files ------------------------------------------------------------------------------------------------- */

/* What to do with a stick that has the report of a machine (tools/report/) as well. */
static void say_what_to_send(EFI_FILE_HANDLE root, const CHAR16 *what)
{
    if (save_exists(root, report_name))
        Print(L"cairn loader: %s\n", what);
}

static EFI_STATUS write_text(EFI_FILE_HANDLE file, const uint8_t *text, uint64_t size)
{
    for (uint64_t done = 0; done < size;) {
        UINTN bytes = size - done < SAVE_PIECE ? size - done : SAVE_PIECE;
        const UINTN wanted = bytes;
        EFI_STATUS status = file->Write(file, &bytes, (void *)(text + done));
        if (!EFI_ERROR(status) && bytes != wanted)
            status = EFI_VOLUME_FULL;
        if (EFI_ERROR(status))
            return status;
        done += bytes;
    }
    return file->Flush(file);
}

static EFI_STATUS delete_note(EFI_FILE_HANDLE root)
{
    EFI_FILE_HANDLE file;
    EFI_STATUS status = root->Open(root, &file, note_name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, 0);
    if (status == EFI_NOT_FOUND)
        return EFI_SUCCESS;
    if (EFI_ERROR(status))
        return status;
    return file->Delete(file) == EFI_SUCCESS ? EFI_SUCCESS : EFI_WRITE_PROTECTED; /* it fails with a warning */
}

/* In place of the one that is there, which may be longer. */
static EFI_STATUS write_note(EFI_FILE_HANDLE root, const struct save_note *note)
{
    EFI_FILE_HANDLE file;
    EFI_STATUS status = delete_note(root);
    if (!EFI_ERROR(status))
        status = root->Open(root, &file, note_name, CREATE, 0);
    if (EFI_ERROR(status))
        return status;
    status = write_text(file, (const uint8_t *)note, sizeof(*note));
    if (!EFI_ERROR(status))
        return file->Close(file);
    file->Delete(file);
    return status;
}

/* `size`: bytes that were read; one more than the note has, if the file is longer. EFI_NOT_FOUND: there is none. */
static EFI_STATUS read_note(EFI_FILE_HANDLE root, struct save_note *note, UINTN *size)
{
    EFI_FILE_HANDLE file;
    uint8_t bytes[sizeof(*note) + 1] = {0};
    EFI_STATUS status = root->Open(root, &file, note_name, EFI_FILE_MODE_READ, 0);
    if (EFI_ERROR(status))
        return status;
    *size = sizeof(bytes);
    status = file->Read(file, size, bytes);
    file->Close(file);
    __builtin_memcpy(note, bytes, sizeof(*note));
    return status;
}

/* The first \cairn-NNN.log that is not there, neither as a file nor as a folder. */
static EFI_STATUS free_name(EFI_FILE_HANDLE root, CHAR16 name[32])
{
    for (unsigned n = 0; n < FILES; n++) {
        EFI_FILE_HANDLE there;
        UnicodeSPrint(name, 32 * sizeof(CHAR16), L"\\cairn-%03d.log", n);
        EFI_STATUS status = root->Open(root, &there, name, EFI_FILE_MODE_READ, 0);
        if (status == EFI_NOT_FOUND)
            return EFI_SUCCESS;
        if (EFI_ERROR(status))
            return status;
        there->Close(there);
    }
    return EFI_VOLUME_FULL;
}

static EFI_STATUS write_new_file(EFI_FILE_HANDLE root, CHAR16 name[32], const struct save_header *h)
{
    EFI_FILE_HANDLE file;
    EFI_STATUS status = free_name(root, name);
    if (!EFI_ERROR(status))
        status = root->Open(root, &file, name, CREATE, 0);
    if (EFI_ERROR(status))
        return boot_fail(name, unwritable, status);
    status = write_text(file, (const uint8_t *)h + SAVE_HEADER_BYTES, h->used);
    if (!EFI_ERROR(status))
        return file->Close(file);
    file->Delete(file); /* closes it; a part of a log must not be taken for one */
    return boot_fail(name, unwritable, status);
}

/* The log is whole: it becomes a file, or waits in memory for the next reset. */
static __attribute__((noreturn)) void save(EFI_FILE_HANDLE root, struct save_header *h)
{
    CHAR16 name[32];
    Print(L"cairn loader: the log of the last run is in memory: %ld bytes at 0x%lx\n", h->used, h->address);
    if (EFI_ERROR(write_new_file(root, name, h)))
        wait_for_another_try();
    Print(L"cairn loader: SAVED: %s: %ld bytes\n", name, h->used);
    __builtin_memset((uint8_t *)h + SAVE_HEADER_BYTES, 0, h->used);
    h->state = SAVE_SAVED;
    h->crc = save_header_crc(h);
    if (EFI_ERROR(delete_note(root)))
        Print(L"cairn loader: %s cannot be deleted: the next start will say so\n", note_name);
    say_what_to_send(root, L"send all files cairn-* of this stick: nothing else is needed");
    root->Close(root);
    switch_off();
}

/* ---- at the next start ------------------------------------------------------------------------------------------ */

/* The firmware gives these very pages only where its map has nothing but free memory there: no device, nothing that it
 * uses. And nothing else can take them from then on. */
static bool take(uint64_t address, uint64_t bytes)
{
    EFI_PHYSICAL_ADDRESS at = address;
    return !EFI_ERROR(BS->AllocatePages(AllocateAddress, EfiLoaderData, EFI_SIZE_TO_PAGES(bytes), &at));
}

/* What there is of the log that `note` leads to. SAVE_GOOD: `*header` and the text behind it are right and taken. */
static enum save_refusal look(const struct save_note *note, struct save_header **header)
{
    struct save_header *h = (struct save_header *)(uintptr_t)note->address;
    uint32_t bad, first;
    if (!take(note->address, SAVE_HEADER_BYTES))
        return SAVE_TAKEN;
    enum save_refusal why = save_check_header(h, note);
    if (why)
        return why;
    if (!take(note->address + SAVE_HEADER_BYTES, h->used))
        return SAVE_TAKEN;
    why = save_check_text(h, (const uint8_t *)h + SAVE_HEADER_BYTES, &bad, &first);
    if (why)
        Print(L"cairn loader: %d of %d pieces of 1 MiB have changed; the first is number %d\n", bad,
              save_pieces(h->used), first);
    *header = h;
    return why;
}

void boot_look(EFI_FILE_HANDLE root, char notes[BOOT_SAVE_NOTES][BOOT_SAVE_NOTE])
{
    struct save_note note;
    struct save_header *header;
    struct boot_info info = {0};
    char machine[SAVE_MACHINE];
    UINTN size = 0;
    EFI_STATUS status = read_note(root, &note, &size);
    if (status == EFI_NOT_FOUND)
        return; /* the usual case */
    if (EFI_ERROR(status)) {
        Print(L"cairn loader: %s cannot be read (%r): no log of an earlier run is looked for\n", note_name, status);
        add_note(notes, "a log of an earlier run was not looked for: ", "\\cairn.run could not be read");
        return;
    }
    boot_firmware_describe(&info);
    save_machine(info.smbios, machine);
    enum save_refusal why = save_check_note(&note, size, machine);
    if (why == SAVE_OTHER_MACHINE) {
        Print(L"cairn loader: %s is of a run on another machine (%a): no log is looked for on this one, and a run with "
              L"save=esp here takes its place\n",
              note_name, note.machine);
        add_note(notes, "no log was looked for: \\cairn.run was of another machine: ", note.machine);
        return;
    }
    if (!why && note.told) {
        add_note(notes, "the log of the run before this one was not saved: ", save_words(note.told));
        delete_note(root);
        return;
    }

    /* Nothing below returns. The firmware resets the machine five minutes after it has started the loader, and a large
     * log on a slow stick may take longer. */
    BS->SetWatchdogTimer(0, 0, 0, NULL);
    if (!why)
        why = look(&note, &header);
    if (!why)
        save(root, header);
    Print(L"cairn loader: NOT SAVED: the log of the last run: %a\n", save_words(why));
    note = (struct save_note){.version = SAVE_VERSION, .told = why};
    __builtin_memcpy(note.machine, machine, sizeof(machine));
    if (EFI_ERROR(write_note(root, &note)))
        delete_note(root); /* or it would be said at every start */
    say_what_to_send(root, L"cairn-machine.txt is still there: send it and your photograph");
    root->Close(root);
    switch_off();
}

/* ---- before a run ---------------------------------------------------------------------------------------------- */

/* MemoryOverwriteRequestControl, bit 0: the firmware clears memory before it starts anything. That is for the owner's
 * secrets, and not ours to take back. */
static bool memory_will_be_cleared(void)
{
    EFI_GUID guid = {0xe20939be, 0x32d4, 0x41be, {0xa1, 0x50, 0x89, 0x7f, 0x85, 0xd4, 0x98, 0x29}};
    UINT8 control = 0;
    UINTN size = sizeof(control);
    return !EFI_ERROR(RT->GetVariable((CHAR16 *)L"MemoryOverwriteRequestControl", &guid, NULL, &size, &control)) &&
           control & 1;
}

#define CPUID_1_ECX_HYPERVISOR (UINT32_C(1) << 31)
#define CPUID_7_ECX_TME        (UINT32_C(1) << 13)

static bool memory_has_another_key_next(void)
{
    uint32_t r[4];
    arch_cpuid(1, 0, r);
    const bool guest = r[2] & CPUID_1_ECX_HYPERVISOR;
    arch_cpuid(0, 0, r);
    if (guest || r[0] < 7)
        return false;
    arch_cpuid(7, 0, r);
    return r[2] & CPUID_7_ECX_TME && save_key_is_new_next(rdmsr(IA32_TME_ACTIVATE));
}

/* Without this the reset would start what is first in the firmware's order, mostly the system on the machine's disk,
 * and that would take the log's memory. UEFI specification, "Globally Defined Variables": BootCurrent is the entry that
 * has started this loader; the one in BootNext is started once, instead of the first in order, and BootNext deleted
 * before. NULL, or why not. */
static const char *start_here_next(void)
{
    UINT16 current;
    UINTN size = sizeof(current);
    if (EFI_ERROR(RT->GetVariable(current_name, &global_guid, NULL, &size, &current)) || size != sizeof(current))
        return "the firmware does not say what it has started (BootCurrent)";
    if (EFI_ERROR(RT->SetVariable(next_name, &global_guid, NEXT_ATTRIBUTES, sizeof(current), &current)))
        return "the firmware does not keep BootNext";
    return NULL;
}

static bool is_esp(const char value[4])
{
    return value[0] == 'e' && value[1] == 's' && value[2] == 'p' && value[3] == 0;
}

/* Bytes of the area; 0: not asked for. A number that is wrong is the kernel's to refuse, and that is to be saved. */
static uint64_t wanted(const char *config)
{
    char value[24] = "";
    uint64_t mib;
    size_t size = 0;
    if (!config_get(config, "save", value, sizeof(value)) || !is_esp(value))
        return 0;
    (void)config_get(config, "save.mib", value, sizeof(value)); /* else "esp" stays, which is no number */
    while (value[size] != 0)
        size++;
    if (!knumber_parse(value, size, &mib) || mib < 1 || mib > SAVE_MIB_MAX)
        mib = SAVE_MIB_DEFAULT;
    return mib << 20;
}

/* Said before the run, while there is time to make room: behind it the log is in memory alone. */
static void check_room(EFI_FILE_HANDLE root, struct boot_info *info)
{
    uint64_t room;
    if (!save_room(root, &room) || room >= info->save_bytes)
        return;
    Print(L"save=esp: this volume has room for %ld MiB, and the log may become %ld MiB (save.mib=)\n", room >> 20,
          info->save_bytes >> 20);
    add_note(info->save_notes, "the log may not be saved: ",
             "its volume is read-only or has less room than save.mib=: what does not fit stays in memory");
}

EFI_STATUS boot_begin(EFI_FILE_HANDLE root, struct boot_info *info, const struct boot_efi_map *map)
{
    const uint64_t bytes = wanted((const char *)(uintptr_t)info->config);
    if (!bytes)
        return EFI_SUCCESS;
    const uint64_t at = save_middle(map, bytes, SAVE_ALIGN, HIGHEST);
    if (!at || !take(at, bytes))
        return boot_fail(L"save=esp", L"no memory for the log in one piece: give a smaller save.mib=",
                         EFI_OUT_OF_RESOURCES);

    struct save_header *h = (struct save_header *)(uintptr_t)at;
    __builtin_memset(h, 0, SAVE_HEADER_BYTES);
    h->magic = SAVE_MAGIC;
    h->version = SAVE_VERSION;
    h->header_bytes = SAVE_HEADER_BYTES;
    h->address = at;
    h->bytes = bytes;
    h->nonce = info->entry_tsc ^ (uint64_t)kcrc32c(0, &info->time, sizeof(info->time)) << 32;
    h->state = SAVE_WRITING;
    h->crc = save_header_crc(h);

    struct save_note note = {.version = SAVE_VERSION, .address = at, .bytes = bytes, .nonce = h->nonce};
    save_machine(info->smbios, note.machine);
    EFI_STATUS status = write_note(root, &note);
    if (EFI_ERROR(status))
        return boot_fail(note_name, unwritable, status);
    const char *elsewhere = start_here_next();
    if (elsewhere) {
        Print(L"save=esp: the next start must be of this volume: choose it in the firmware's menu: %a\n", elsewhere);
        add_note(info->save_notes,
                 "the next start must be of this volume: choose it in the firmware's menu: ", elsewhere);
    }
    if (memory_has_another_key_next()) {
        Print(L"save=esp: this machine encrypts its memory with a new key at each start (TME): the log cannot be "
              L"saved, unless you turn that off in the firmware's menu\n");
        add_note(info->save_notes,
                 "the log cannot be saved: this machine encrypts its memory with a new key at each start: ",
                 "turn TME (Total Memory Encryption) off in the firmware's menu");
    }
    if (memory_will_be_cleared())
        add_note(info->save_notes, "the log may not be saved: ",
                 "the firmware is asked to clear memory at its next start (MemoryOverwriteRequestControl)");
    info->save_area = at;
    info->save_bytes = bytes;
    check_room(root, info);
    Print(L"save=esp: the log is kept in %ld MiB at 0x%lx; the next start saves it\n", bytes >> 20, at);
    return EFI_SUCCESS;
}

void boot_give_up(struct boot_info *info)
{
    if (!info->save_area)
        return;
    RT->SetVariable(next_name, &global_guid, NEXT_ATTRIBUTES, 0, NULL);
    info->save_area = info->save_bytes = 0;
}
