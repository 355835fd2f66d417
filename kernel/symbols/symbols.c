/* SPDX-License-Identifier: MIT */
/* Reads .symtab of an ELF-64 file: System V ABI, "Symbol Table". Every offset is checked against the file. If one is
 * bad, there are no names. */
#include "kernel/symbols/symbols.h"

#include <stddef.h>

#include "arch/arch.h"
#include "arch/memory_layout.h"
#include "boot/info.h"
#include "kernel/dump_section.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/lib/symbols.h"
#include "kernel/memory/mem.h"
#include "kernel/phase.h"
#include "kernel/symbols/elf64_symbols.h"
#include "kernel/user_thread.h"
#include "trace/frames.h"

#define SHT_SYMTAB 2u
#define STT_NOTYPE 0u
#define STT_OBJECT 1u
#define STT_FUNC   2u

struct symbol {
    uint64_t address;
    uint32_t size;
    uint32_t name; /* where in `names` */
};

static struct symbol *symbols; /* ascending by address */
static uint32_t count;
static const char *names;

/* Where code of the image runs: the kernel's at its own address, a program's at its own (kernel/user/user.h). 0: no
 * code. */
static uint64_t code_address(uint64_t value)
{
    if (value >= (uintptr_t)kernel_user_start && value < (uintptr_t)kernel_user_text_end)
        return kuser_address((const void *)value);
    return value >= (uintptr_t)kernel_text_start && value < (uintptr_t)kernel_text_end ? value : 0;
}

/* C functions, and the labels of nasm sources, which carry no type: those inside the text are code. */
static bool is_function(const struct elf64_symbol *s)
{
    unsigned type = s->info & 15u;
    return (type == STT_FUNC || type == STT_NOTYPE) && code_address(s->value);
}

/* Variables: locks have names by them. */
static bool is_variable(const struct elf64_symbol *s)
{
    return (s->info & 15u) == STT_OBJECT && s->size && s->value >= (uintptr_t)kernel_data_start &&
           s->value < (uintptr_t)kernel_data_end;
}

static bool is_wanted(const struct elf64_symbol *s, const char *strings, uint64_t strings_size)
{
    return s->name < strings_size && s->name && s->shndx &&
           strings[s->name] != '.' && /* nasm's local and macro-local labels */
           (is_function(s) || is_variable(s));
}

static void sort(void) /* Shell sort: a thousand entries, once */
{
    for (uint32_t gap = count / 2; gap; gap /= 2)
        for (uint32_t i = gap; i < count; i++) {
            struct symbol s = symbols[i];
            uint32_t j = i;
            for (; j >= gap && symbols[j - gap].address > s.address; j -= gap)
                symbols[j] = symbols[j - gap];
            symbols[j] = s;
        }
}

/* A label inside a function (local to a nasm file) must not hide the function; labels without a size reach to the next
 * symbol. */
static void tidy(void)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct symbol s = symbols[i];
        if (kept && s.size == 0 && s.address < symbols[kept - 1].address + symbols[kept - 1].size)
            continue;
        if (kept && symbols[kept - 1].address == s.address)
            kept -= symbols[kept - 1].size <= s.size;
        symbols[kept++] = s;
    }
    count = kept;
    for (uint32_t i = 0; i < count; i++) {
        bool program = symbols[i].address < (uintptr_t)kernel_text_start;
        uint64_t end = program ? kuser_address(kernel_user_text_end) : (uintptr_t)kernel_text_end;
        uint64_t next = i + 1 < count && symbols[i + 1].address < end ? symbols[i + 1].address : end;
        if (!symbols[i].size)
            symbols[i].size = (uint32_t)(next - symbols[i].address);
    }
}

/* Builds the sorted table. Without a usable symbol table there are no names, and one line says why. */
static void read_symbols(const struct boot_info *info)
{
    const uint8_t *file = arch_phys_to_virt(info->kernel_file);
    uint64_t size = info->kernel_file_size;
    const struct elf64_header *h = (const void *)file;
    const struct elf64_section_header *sections, *table = NULL;

    if (!info->kernel_file || size < sizeof *h || h->shentsize != sizeof *sections ||
        !elf64_inside(h->shoff, (uint64_t)h->shnum * sizeof *sections, size))
        goto none;
    sections = (const void *)(file + h->shoff);
    for (unsigned i = 0; i < h->shnum; i++)
        if (sections[i].type == SHT_SYMTAB && sections[i].link < h->shnum)
            table = &sections[i];
    if (!table)
        goto none;
    const struct elf64_section_header *strings = &sections[table->link];
    if (!elf64_inside(table->offset, table->size, size) || !strings->size ||
        !elf64_inside(strings->offset, strings->size, size) || file[strings->offset + strings->size - 1] != '\0')
        goto none;

    const struct elf64_symbol *from = (const void *)(file + table->offset);
    uint32_t n = (uint32_t)(table->size / sizeof *from);
    names = (const char *)file + strings->offset;
    for (uint32_t i = 0; i < n; i++)
        count += is_wanted(&from[i], names, strings->size);
    symbols = kmem_pages_alloc((count * sizeof *symbols + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE);
    if (!symbols || !count) {
        count = 0;
        goto none;
    }
    for (uint32_t i = 0, at = 0; i < n; i++)
        if (is_wanted(&from[i], names, strings->size))
            symbols[at++] = (struct symbol){is_variable(&from[i]) ? from[i].value : code_address(from[i].value),
                                            (uint32_t)from[i].size, from[i].name};
    sort();
    tidy();
    return;
none:
    kprintf("symbols: kernel.elf has no usable symbol table: addresses will have no names\n");
}
KPHASE(KPHASE_MEMORY, read_symbols);

bool ksymbols_find(const char *name, uint64_t *at)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names + symbols[i].name, name) == 0) {
            *at = symbols[i].address;
            return true;
        }
    return false;
}

const char *ksymbols_name(uint64_t address, uint64_t *offset)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (symbols[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || address - symbols[low - 1].address >= symbols[low - 1].size)
        return NULL;
    *offset = address - symbols[low - 1].address;
    return names + symbols[low - 1].name;
}

static void kdump_symbols(struct trace_dump *d)
{
    for (const struct symbol *s = symbols; s < symbols + count; s++) {
        const bool near = s->address >= CAIRN_SYMBOLS_BASE;
        trace_dump_print(d, CAIRN_STREAM_SYMBOLS, "%s%lx %x %s", near ? "+" : "",
                         (unsigned long)(s->address - (near ? CAIRN_SYMBOLS_BASE : 0)), s->size, names + s->name);
    }
}
KDUMP_SECTION(KDUMP_SYMBOLS, KDUMP_HEAD, kdump_symbols);
