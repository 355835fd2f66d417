/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/elf.h"

#if !__has_include(<elfutils/libdwfl.h>)
#error elfutils is not there: run 'make deps'
#endif
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/error.h"

struct cairn_elf {
    Dwfl *dwfl;
    Dwfl_Module *module;
    bool same_build;
};

static int no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
                        const char *link, GElf_Word crc, char **found)
{
    (void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
    return -1; /* only what is in the file itself: nothing is looked for elsewhere, nothing downloaded */
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = no_debuginfo,
    .section_address = dwfl_offline_section_address,
};

/* Whether it is of the build that wrote the log, as far as can be told; the reason told where it is not. */
static bool is_of_log(struct cairn_elf *elf, const char *path, const struct cairn_log *log)
{
    const struct cairn_slice wanted = cairn_key(&log->text, "kernel.build_id");
    const unsigned char *bits;
    GElf_Addr where;
    char hex[129] = "none";
    const int n = dwfl_module_build_id(elf->module, &bits, &where);
    for (int i = 0; i < n && i < 64; i++)
        snprintf(hex + 2 * i, 3, "%02x", bits[i]);
    elf->same_build = wanted.size && cairn_slice_is(wanted, hex);
    if (!wanted.size)
        cairn_note("%s: %s has no build ID of its kernel, so cairn cannot know whether this file is of that kernel",
                   path, log->input.name);
    else if (!elf->same_build)
        cairn_error("%s: is from another build than the kernel of %s: build ID %s, not %.*s; give the file of that "
                    "build, or leave out --elf (the log has function names)",
                    path, log->input.name, hex, CAIRN_SLICE(wanted));
    return !wanted.size || elf->same_build;
}

int cairn_elf_open(struct cairn_elf **opened, const char *path, const struct cairn_log *log)
{
    struct cairn_elf *elf = cairn_alloc(sizeof(*elf));
    int status = CAIRN_GOOD;
    elf->dwfl = dwfl_begin(&callbacks);
    if (elf->dwfl) {
        dwfl_report_begin(elf->dwfl);
        elf->module = dwfl_report_offline(elf->dwfl, "kernel", path, -1);
        dwfl_report_end(elf->dwfl, NULL, NULL);
    }
    if (!elf->module) {
        cairn_error("%s: %s", path, dwfl_errmsg(-1));
        status = CAIRN_UNREADABLE;
    } else if (!is_of_log(elf, path, log)) {
        status = CAIRN_USAGE;
    }
    if (status)
        cairn_elf_close(elf);
    *opened = status ? NULL : elf;
    return status;
}

bool cairn_elf_has_lines(struct cairn_elf *elf)
{
    Dwarf_Addr bias;
    return dwfl_module_getdwarf(elf->module, &bias) != NULL;
}

/* Bytes from `address` to the end of its section. 0: it is not in it, as _end, which marks where one ends. */
static uint64_t left_of_section(Elf *of, GElf_Word index, GElf_Addr address)
{
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(of, index);
    if (!section || !gelf_getshdr(section, &header) || address - header.sh_addr >= header.sh_size)
        return 0;
    return header.sh_size - (address - header.sh_addr);
}

void cairn_elf_symbols(struct cairn_elf *elf, struct cairn_text *text)
{
    const int count = dwfl_module_getsymtab(elf->module);
    for (int i = 1; i < count; i++) {
        GElf_Sym s;
        GElf_Addr address;
        GElf_Word section;
        Elf *of;
        Dwarf_Addr bias;
        const char *name = dwfl_module_getsym_info(elf->module, i, &s, &address, &section, &of, &bias);
        const unsigned type = GELF_ST_TYPE(s.st_info);
        if (!name || !*name || s.st_shndx == SHN_UNDEF || s.st_shndx == SHN_ABS ||
            (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE))
            continue;
        const uint64_t size = s.st_size ? s.st_size : left_of_section(of, section, address - bias); /* of assembler */
        if (size)
            cairn_text_add_symbol(text, name, address, size);
    }
    cairn_text_order_symbols(text);
}

void cairn_elf_close(struct cairn_elf *elf)
{
    if (elf && elf->dwfl)
        dwfl_end(elf->dwfl);
    free(elf);
}

const char *cairn_elf_function(struct cairn_elf *elf, uint64_t address, char out[CAIRN_SHOWN])
{
    GElf_Off offset;
    GElf_Sym symbol;
    const char *name = dwfl_module_addrinfo(elf->module, address, &offset, &symbol, NULL, NULL, NULL);
    if (!name)
        return NULL;
    snprintf(out, CAIRN_SHOWN, "%.90s+0x%" PRIx64, name, (uint64_t)offset);
    return out;
}

const char *cairn_function_name(const struct cairn_log *log, struct cairn_elf *elf, uint64_t address,
                                char out[CAIRN_SHOWN])
{
    if (elf && cairn_elf_function(elf, address, out)) {
        char *offset = strrchr(out, '+');
        if (offset)
            *offset = '\0';
        return out;
    }
    const struct cairn_symbol *s = cairn_find_symbol(&log->text, address);
    return s ? cairn_slice_text(out, CAIRN_SHOWN, s->name) : NULL;
}

const char *cairn_elf_line(struct cairn_elf *elf, uint64_t address, char out[CAIRN_SHOWN])
{
    Dwfl_Line *line = dwfl_module_getsrc(elf->module, address);
    int number;
    const char *file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    if (!file)
        return NULL;
    snprintf(out, CAIRN_SHOWN, "%.100s:%d", file, number);
    return out;
}

bool cairn_elf_same_build(const struct cairn_elf *elf)
{
    return elf->same_build;
}

bool cairn_elf_section(struct cairn_elf *elf, const char *name, uint64_t *offset, uint64_t *size, char **path)
{
    GElf_Addr bias;
    GElf_Shdr header;
    size_t names;
    const char *file;
    Elf *of = dwfl_module_getelf(elf->module, &bias);
    Elf_Scn *section = NULL;
    if (!of || elf_getshdrstrndx(of, &names))
        return false;
    while ((section = elf_nextscn(of, section)) != NULL) {
        const char *is = gelf_getshdr(section, &header) ? elf_strptr(of, names, header.sh_name) : NULL;
        if (!is || strcmp(is, name) != 0)
            continue;
        dwfl_module_info(elf->module, NULL, NULL, NULL, NULL, NULL, &file, NULL);
        *offset = header.sh_offset;
        *size = header.sh_size;
        *path = realpath(file, NULL);
        return *path;
    }
    return false;
}

size_t cairn_elf_code(struct cairn_elf *elf, uint64_t address, uint8_t *code, size_t size)
{
    Dwarf_Addr at = address, bias;
    Elf_Scn *section = dwfl_module_address_section(elf->module, &at, &bias);
    GElf_Shdr header;
    if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
        return 0;
    const Elf_Data *data = elf_rawdata(section, NULL);
    if (!data || !data->d_buf || at >= data->d_size)
        return 0;
    size = data->d_size - at < size ? data->d_size - at : size;
    memcpy(code, (const uint8_t *)data->d_buf + at, size);
    return size;
}
