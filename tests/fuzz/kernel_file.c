/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memfd_create */
#include "tests/fuzz/kernel_file.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "boot/info.h"

#define CODE_BYTES (1u << 20) /* from where the kernel is linked */
#define ID_MAX     64u

static const char names[] = "\0.text\0.note.gnu.build-id\0.shstrtab";
enum { NAME_TEXT = 1, NAME_NOTE = 7, NAME_NAMES = 26 };
enum { NONE, TEXT, NOTE, NAMES, SECTIONS };

struct file {
    Elf64_Ehdr header;
    Elf64_Phdr segment[2]; /* the code, the note */
    Elf64_Shdr section[SECTIONS];
    struct {
        Elf64_Nhdr header;
        char owner[4];
        uint8_t id[ID_MAX];
    } note;
    char names[sizeof(names)];
    _Alignas(0x1000) uint8_t code[CODE_BYTES];
};

static void fill_code(uint8_t *code)
{
    static const uint8_t insns[][4] = {
        {0xE8, 0x10},       /* CALL */
        {0xFF, 0xD0},       /* CALL RAX */
        {0xC3},             /* RET */
        {0x48, 0xCF},       /* IRETQ */
        {0xEB, 0x10},       /* JMP */
        {0x74, 0x10},       /* JZ */
        {0x0F, 0x05},       /* SYSCALL */
        {0x48, 0x0F, 0x07}, /* SYSRET */
        {0xFF, 0x28},       /* JMP FAR */
        {0x90},             /* NOP */
    };
    uint32_t random = 1;
    for (size_t at = 0; at < CODE_BYTES; at += sizeof(insns[0])) {
        random = random * 1664525 + 1013904223;
        memcpy(code + at, insns[(random >> 16) % (sizeof(insns) / sizeof(insns[0]))], sizeof(insns[0]));
    }
}

static void fill(struct file *f)
{
    f->header = (Elf64_Ehdr){
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = offsetof(struct file, segment),
        .e_shoff = offsetof(struct file, section),
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 2,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = SECTIONS,
        .e_shstrndx = NAMES,
    };
    const uint64_t at = offsetof(struct file, code);
    f->segment[0] = (Elf64_Phdr){
        PT_LOAD, PF_R | PF_X, at, BOOT_KERNEL_BASE, BOOT_KERNEL_BASE, CODE_BYTES, CODE_BYTES, 0x1000,
    };
    f->section[TEXT] = (Elf64_Shdr){
        NAME_TEXT, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, BOOT_KERNEL_BASE, at, CODE_BYTES, 0, 0, 1, 0,
    };
    f->section[NAMES] = (Elf64_Shdr){
        NAME_NAMES, SHT_STRTAB, 0, 0, offsetof(struct file, names), sizeof(names), 0, 0, 1, 0,
    };
    memcpy(f->note.owner, "GNU", sizeof(f->note.owner));
    memcpy(f->names, names, sizeof(names));
    fill_code(f->code);
}

/* Its build ID, of hexadecimal digits; whether they can be one. */
static bool set_id(struct file *f, struct cairn_slice digits)
{
    static const char digit[] = "0123456789abcdef";
    const uint64_t at = offsetof(struct file, note);
    const uint32_t bytes = digits.size / 2 < ID_MAX ? (uint32_t)(digits.size / 2) : ID_MAX;
    if (digits.size != 2 * (size_t)bytes)
        return false;
    for (uint32_t i = 0; i < bytes; i++) {
        const char *high = memchr(digit, digits.at[2 * i], 16), *low = memchr(digit, digits.at[2 * i + 1], 16);
        if (!high || !low)
            return false;
        f->note.id[i] = (uint8_t)((high - digit) << 4 | (low - digit));
    }
    const uint64_t size = offsetof(struct file, note.id) - at + ((bytes + 3) & ~3u); /* or elfutils sees no note */
    f->note.header = (Elf64_Nhdr){sizeof(f->note.owner), bytes, NT_GNU_BUILD_ID};
    f->segment[1] = (Elf64_Phdr){PT_NOTE, PF_R, at, 0, 0, size, 0, 4};
    f->section[NOTE] = (Elf64_Shdr){NAME_NOTE, SHT_NOTE, 0, 0, at, size, 0, 0, 4, 0};
    return true;
}

const char *fuzz_kernel_file(const struct cairn_log *log)
{
    static char path[32];
    static struct file *f;
    if (!f) {
        const int fd = memfd_create("kernel.elf", 0);
        if (fd < 0 || ftruncate(fd, sizeof(*f)) ||
            (f = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
            abort();
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        fill(f);
    }
    return set_id(f, cairn_key(&log->text, "kernel.build_id")) ? path : NULL;
}
