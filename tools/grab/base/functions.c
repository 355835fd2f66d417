/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/grab/base/functions.h"

#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/grab/base/line.h"
#include "tools/grab/base/memory.h"

/* ---- symbols ----------------------------------------------------------------------------------------------------- */

/* Where an address of the file's own is in the file. False: not in a segment with code. */
static bool find_offset(Elf *elf, uint64_t address, uint64_t *offset)
{
    size_t count;
    GElf_Phdr p;
    if (elf_getphdrnum(elf, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && p.p_flags & PF_X && address >= p.p_vaddr &&
            address - p.p_vaddr < p.p_filesz) {
            *offset = address - p.p_vaddr + p.p_offset;
            return true;
        }
    return false;
}

/* Where the code ends that a symbol without a size may have: its section. */
static uint64_t end_of_section(Elf *elf, const GElf_Sym *s)
{
    GElf_Shdr h;
    Elf_Scn *section = elf_getscn(elf, s->st_shndx);
    if (!section || !gelf_getshdr(section, &h) || !(h.sh_flags & SHF_EXECINSTR))
        return 0;
    return h.sh_addr + h.sh_size;
}

static void read_table(struct grab_file *f, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym s;
    uint64_t offset;
    for (int i = 1; data && gelf_getsym(data, i, &s); i++) {
        const unsigned type = GELF_ST_TYPE(s.st_info);
        const char *name = elf_strptr(f->elf, header->sh_link, s.st_name);
        if (!name || !*name || !grab_line_fits(name) || s.st_shndx == SHN_UNDEF || s.st_shndx >= SHN_LORESERVE ||
            (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
            continue;
        const uint64_t end = s.st_size ? s.st_value + s.st_size : end_of_section(f->elf, &s); /* of assembler */
        if (end > s.st_value && find_offset(f->elf, s.st_value, &offset))
            *(struct grab_function *)GRAB_ADD(f->items, f->count, f->room) =
                (struct grab_function){offset, offset + end - s.st_value, name};
    }
}

static bool read_symbols(struct grab_file *f, uint32_t type)
{
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(f->elf, section));)
        if (gelf_getshdr(section, &header) && header.sh_type == type)
            read_table(f, section, &header);
    return f->count;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b)
{
    const struct grab_function *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to > y->to ? -1 : 1; /* the largest is first */
    return strcmp(x->name, y->name);
}

/* One at each place, which ends where the next begins. */
static void order(struct grab_file *f)
{
    size_t kept = 0;
    if (f->count)
        qsort(f->items, f->count, sizeof *f->items, by_offset);
    for (size_t i = 0; i < f->count; i++) {
        if (kept && f->items[kept - 1].from == f->items[i].from)
            continue;
        if (kept && f->items[kept - 1].to > f->items[i].from)
            f->items[kept - 1].to = f->items[i].from;
        f->items[kept++] = f->items[i];
    }
    f->count = kept;
}

/* ---- build ID ---------------------------------------------------------------------------------------------------- */

/* Of a segment with notes; the first one counts. */
static void read_notes(struct grab_file *f, const GElf_Phdr *segment)
{
    Elf_Data *data = elf_getdata_rawchunk(f->elf, (int64_t)segment->p_offset, segment->p_filesz,
                                          segment->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    GElf_Nhdr note;
    size_t name, id;
    for (size_t at = 0; data && !f->build_id_bytes && (at = gelf_getnote(data, at, &note, &name, &id));)
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" && note.n_descsz <= GRAB_BUILD_ID_MAX &&
            memcmp((const char *)data->d_buf + name, "GNU", sizeof "GNU") == 0) {
            memcpy(f->build_id, (const char *)data->d_buf + id, note.n_descsz);
            f->build_id_bytes = note.n_descsz;
        }
}

static void read_build_id(struct grab_file *f)
{
    size_t count;
    GElf_Phdr p;
    if (elf_getphdrnum(f->elf, &count))
        return;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(f->elf, (int)i, &p) && p.p_type == PT_NOTE)
            read_notes(f, &p);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* As the process sees it, or, if it has ended, as everybody does. Devices are not compared: a mapping has that of the
 * superblock, or of the file under overlayfs, and stat() has another on btrfs and on overlayfs, as in containers. */
static int open_mapped(const struct grab_map *map, const char *path)
{
    char of_process[4352];
    struct stat is;
    snprintf(of_process, sizeof of_process, "/proc/%" PRIu32 "/root%s", map->process, path);
    const char *const paths[] = {of_process, path};
    for (unsigned i = 0; i < 2; i++) {
        const int file = open(paths[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* it may be a FIFO by now */
        if (file >= 0 && !fstat(file, &is) && S_ISREG(is.st_mode) && is.st_ino == map->inode)
            return file;
        if (file >= 0)
            close(file);
    }
    return -1;
}

/* NULL: it has not been read. */
static struct grab_file *known_file(const struct grab_files *files, const struct grab_map *map, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->items[i].inode == map->inode && strcmp(files->items[i].path, path) == 0)
            return &files->items[i];
    return NULL;
}

static struct grab_file *find_file(struct grab_files *files, const struct grab_map *map, const char *path)
{
    struct grab_file *f = known_file(files, map, path);
    if (f)
        return f;
    f = GRAB_ADD(files->items, files->count, files->room);
    *f = (struct grab_file){.path = path, .inode = map->inode};
    const int file = open_mapped(map, path);
    elf_version(EV_CURRENT);
    f->elf = file < 0 ? NULL : elf_begin(file, ELF_C_READ, NULL); /* no mapping: somebody may cut the file */
    if (f->elf && !read_symbols(f, SHT_SYMTAB))                   /* stripped: what it exports */
        read_symbols(f, SHT_DYNSYM);
    if (f->elf) {
        read_build_id(f);
        elf_cntl(f->elf, ELF_C_FDDONE); /* the names are in memory */
    }
    if (file >= 0)
        close(file);
    order(f);
    return f;
}

const struct grab_function *grab_files_function(struct grab_files *files, const struct grab_maps *maps,
                                                const struct grab_map *map, uint64_t offset)
{
    const struct grab_file *f = map->inode ? find_file(files, map, grab_maps_path(maps, map)) : NULL;
    size_t low = 0, high = f ? f->count : 0;
    while (low < high) { /* the first behind it */
        const size_t middle = (low + high) / 2;
        if (f->items[middle].from <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low && offset < f->items[low - 1].to ? &f->items[low - 1] : NULL;
}

uint32_t grab_files_build_id(const struct grab_files *files, const struct grab_maps *maps, const struct grab_map *map,
                             const uint8_t **id)
{
    const struct grab_file *f = map->inode ? known_file(files, map, grab_maps_path(maps, map)) : NULL;
    *id = f ? f->build_id : NULL;
    return f ? f->build_id_bytes : 0;
}

void grab_files_free(struct grab_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->items[i].items);
        elf_end(files->items[i].elf);
    }
    free(files->items);
}
