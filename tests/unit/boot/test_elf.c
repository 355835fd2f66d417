/* SPDX-License-Identifier: MIT */
/* boot/elf.c: every rule, at its limit and one beyond. */
#include <elf.h>
#include <string.h>

#include "boot/elf.h"
#include "boot/info.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"

#define TEXT   (BOOT_KERNEL_BASE + 0x100000)
#define RODATA (TEXT + 0x1000)
#define DATA   (TEXT + 0x2000)

/* A small kernel: three segments in a file of four pages, section headers last. */
struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segment[3];
    uint8_t space[0x4000 - sizeof(Elf64_Ehdr) - 3 * sizeof(Elf64_Phdr)];
    Elf64_Shdr section[1];
};

static struct image good(void)
{
    struct image m;
    memset(&m, 0, sizeof(m));
    m.header = (Elf64_Ehdr){.e_type = ET_EXEC,
                            .e_machine = EM_X86_64,
                            .e_version = EV_CURRENT,
                            .e_entry = TEXT + 0x10,
                            .e_phoff = offsetof(struct image, segment),
                            .e_shoff = offsetof(struct image, section),
                            .e_ehsize = sizeof(Elf64_Ehdr),
                            .e_phentsize = sizeof(Elf64_Phdr),
                            .e_phnum = 3,
                            .e_shentsize = sizeof(Elf64_Shdr),
                            .e_shnum = 1};
    memcpy(m.header.e_ident, ELFMAG, SELFMAG);
    m.header.e_ident[EI_CLASS] = ELFCLASS64;
    m.header.e_ident[EI_DATA] = ELFDATA2LSB;
    m.segment[0] = (Elf64_Phdr){.p_type = PT_LOAD,
                                .p_flags = PF_R | PF_X,
                                .p_offset = 0x1000,
                                .p_vaddr = TEXT,
                                .p_filesz = 0x800,
                                .p_memsz = 0x800};
    m.segment[1] = (Elf64_Phdr){.p_type = PT_LOAD,
                                .p_flags = PF_R,
                                .p_offset = 0x2000,
                                .p_vaddr = RODATA,
                                .p_filesz = 0x1000,
                                .p_memsz = 0x1000};
    m.segment[2] = (Elf64_Phdr){.p_type = PT_LOAD,
                                .p_flags = PF_R | PF_W,
                                .p_offset = 0x3000,
                                .p_vaddr = DATA,
                                .p_filesz = 0x10,
                                .p_memsz = 0x5001};
    return m;
}

static void accept(const struct image *m, struct boot_elf *elf)
{
    const char *reason;
    int header;
    assert_int_equal(boot_elf_check(m, sizeof(*m), elf, &reason, &header), 0);
    assert_null(reason);
}

static void refuse_size(const struct image *m, size_t size, int header, const char *reason)
{
    struct boot_elf elf;
    const char *said;
    int at;
    assert_int_equal(boot_elf_check(m, size, &elf, &said, &at), -EINVAL);
    assert_non_null(strstr(said, reason));
    assert_int_equal(at, header);
}

static void refuse(const struct image *m, int header, const char *reason)
{
    refuse_size(m, sizeof(*m), header, reason);
}

static void test_good(void **state)
{
    (void)state;
    struct image m = good();
    struct boot_elf elf;
    accept(&m, &elf);
    assert_int_equal(elf.entry, TEXT + 0x10);
    assert_int_equal(elf.virt, TEXT);
    assert_int_equal(elf.size, 0x8000); /* 0x2000 before data, and 0x5001 rounded up */
    assert_int_equal(elf.segment_count, 3);
    assert_int_equal(elf.segments[2].memory_size, 0x5001);
    assert_int_equal(elf.segments[0].flags, BOOT_ELF_R | BOOT_ELF_X);
}

static void test_header(void **state)
{
    (void)state;
    struct image m = good();
    refuse_size(&m, sizeof(Elf64_Ehdr) - 1, -1, "shorter than an ELF header");
    m.header.e_ident[1] = 'e';
    refuse(&m, -1, "not an ELF file");
    m = good();
    m.header.e_ident[EI_CLASS] = ELFCLASS32;
    refuse(&m, -1, "not an executable for x86-64");
    m = good();
    m.header.e_ident[EI_DATA] = ELFDATA2MSB;
    refuse(&m, -1, "not an executable for x86-64");
    m = good();
    m.header.e_machine = EM_AARCH64;
    refuse(&m, -1, "not an executable for x86-64");
    m = good();
    m.header.e_type = ET_DYN;
    refuse(&m, -1, "ET_EXEC");
    m = good();
    m.header.e_phentsize++;
    refuse(&m, -1, "unknown size");
}

static void test_truncated(void **state)
{
    (void)state;
    struct image m = good();
    refuse_size(&m, sizeof(m) - 1, -1, "section headers beyond");
    refuse_size(&m, offsetof(struct image, segment[2]), -1, "program headers beyond");
    m.header.e_shoff = UINT64_MAX;
    refuse(&m, -1, "section headers beyond");
    m = good();
    m.header.e_phoff = UINT64_MAX - 8;
    refuse(&m, -1, "program headers beyond");
    m = good();
    m.header.e_shoff = 0; /* no section headers: the segments speak */
    struct boot_elf elf;
    const char *reason;
    int header;
    assert_int_equal(boot_elf_check(&m, 0x3010, &elf, &reason, &header), 0);
    refuse_size(&m, 0x300F, 2, "beyond the end of the file");
}

static void test_segment(void **state)
{
    (void)state;
    struct image m = good();
    m.segment[1].p_flags = PF_R | PF_W | PF_X;
    refuse(&m, 1, "writable and executable");
    m = good();
    m.segment[0].p_memsz--;
    refuse(&m, 0, "larger in the file");
    m = good();
    m.segment[1].p_offset = UINT64_MAX;
    refuse(&m, 1, "beyond the end of the file");
    m = good();
    m.segment[0].p_vaddr = BOOT_KERNEL_BASE - 1;
    refuse(&m, 0, "outside the kernel's address range");
    m = good();
    m.segment[2].p_memsz = BOOT_ELF_MAX_SPAN + 1;
    refuse(&m, 2, "outside the kernel's address range");
    m = good();
    m.segment[2].p_vaddr = UINT64_MAX - 0x1000;
    refuse(&m, 2, "outside the kernel's address range");
}

static void test_overlap(void **state)
{
    (void)state;
    struct image m = good();
    struct boot_elf elf;
    m.segment[1].p_vaddr = TEXT + 0x7FF;
    refuse(&m, 1, "overlaps");
    m.segment[1].p_vaddr = TEXT + 0x800; /* behind it, but in the same page */
    m.segment[1].p_filesz = m.segment[1].p_memsz = 0x10;
    refuse(&m, 1, "overlaps");
    m.segment[1].p_vaddr = TEXT + 0x1000;
    accept(&m, &elf);
    m = good();
    m.segment[2].p_vaddr = TEXT - 0x6000; /* before the others, which no linker writes */
    refuse(&m, 2, "out of order");
}

static void test_whole(void **state)
{
    (void)state;
    struct image m = good();
    m.header.e_phnum = 0;
    refuse(&m, -1, "nothing to load");
    m = good();
    m.header.e_entry = TEXT + 0x800;
    refuse(&m, -1, "entry point");
    m.header.e_entry = RODATA;
    refuse(&m, -1, "entry point");
    m.header.e_entry = TEXT + 0x7FF;
    struct boot_elf elf;
    accept(&m, &elf);
    m = good();
    m.segment[2].p_vaddr = TEXT + BOOT_ELF_MAX_SPAN;
    refuse(&m, -1, "too far apart");
    m = good(); /* not loaded: not checked */
    m.segment[1].p_type = PT_NOTE;
    m.segment[1].p_offset = UINT64_MAX;
    accept(&m, &elf);
    assert_int_equal(elf.segment_count, 2);
}

static void test_too_many_segments(void **state)
{
    (void)state;
    struct image m = good();
    Elf64_Phdr *table = (Elf64_Phdr *)(void *)(m.space + 8); /* aligned enough for Elf64_Phdr */
    m.header.e_phoff = (uint64_t)((uint8_t *)table - (uint8_t *)&m);
    for (unsigned i = 0; i <= BOOT_ELF_MAX_SEGMENTS; i++) {
        Elf64_Phdr p = m.segment[0];
        p.p_vaddr += i * 0x1000;
        memcpy(m.space + 8 + i * sizeof(p), &p, sizeof(p));
    }
    m.header.e_phnum = BOOT_ELF_MAX_SEGMENTS;
    struct boot_elf elf;
    accept(&m, &elf);
    m.header.e_phnum++;
    refuse(&m, BOOT_ELF_MAX_SEGMENTS, "more segments");
}

/* Whatever a single wrong byte in the headers does, what is accepted stays inside file and address range. */
static void test_every_byte(void **state)
{
    (void)state;
    for (size_t at = 0; at < sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr); at++) {
        for (unsigned value = 0; value < 256; value++) {
            struct image m = good();
            ((uint8_t *)&m)[at] = (uint8_t)value;
            struct boot_elf elf;
            const char *reason;
            int header;
            if (boot_elf_check(&m, sizeof(m), &elf, &reason, &header) != 0)
                continue;
            assert_true(elf.size <= BOOT_ELF_MAX_SPAN && elf.virt >= BOOT_KERNEL_BASE);
            for (uint32_t i = 0; i < elf.segment_count; i++) {
                const struct boot_elf_segment *s = &elf.segments[i];
                assert_true(s->offset <= sizeof(m) && s->file_size <= sizeof(m) - s->offset);
                assert_true(s->virt >= elf.virt && s->virt - elf.virt + s->memory_size <= elf.size);
                assert_true(s->file_size <= s->memory_size);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_segment),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_too_many_segments),
        cmocka_unit_test(test_every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
