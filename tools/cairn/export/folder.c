/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/cairn/export/folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cairn/export/partial.h"

static const char *path_of(char out[PATH_MAX], const struct cairn_output *o, const char *name, const char *more)
{
    const int n = snprintf(out, PATH_MAX, "%s/%s%s", o->path, name, more);
    return n < PATH_MAX ? out : NULL;
}

/* `head`, perhaps a number, and `tail`. */
static bool is_name(const char *name, const char *head, bool number, const char *tail)
{
    const size_t size = strlen(head), digits = number ? strspn(name + strnlen(name, size), "0123456789") : 0;
    return strncmp(name, head, size) == 0 && (digits || !number) && strcmp(name + size + digits, tail) == 0;
}

static bool is_part(const struct cairn_writer *w, const char *name, const char *tail)
{
    return is_name(name, w->parts, true, tail);
}

static bool is_own(const struct cairn_output *o, const char *name)
{
    char path[PATH_MAX], start[4096];
    if (!is_name(name, o->writer->folder, false, "") && !is_name(name, o->writer->folder, false, CAIRN_PARTIAL))
        return false;
    FILE *f = path_of(path, o, name, "") ? fopen(path, "rb") : NULL;
    const size_t size = f ? fread(start, 1, sizeof(start), f) : 0;
    if (f)
        fclose(f);
    return f && o->writer->own(start, size);
}

bool cairn_folder_is_kept(const struct cairn_output *o)
{
    DIR *dir = opendir(o->path);
    bool parts = false, own = false, others = false;
    if (!dir)
        return errno != ENOENT;
    for (const struct dirent *d; (d = readdir(dir));) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        if (is_own(o, d->d_name))
            own = true;
        else if (is_part(o->writer, d->d_name, "") || is_part(o->writer, d->d_name, CAIRN_PARTIAL))
            parts = true;
        else
            others = true;
    }
    closedir(dir);
    return others || (parts && !own);
}

/* 0 or negative errno. */
static int remove_parts(const struct cairn_output *o, const char *tail)
{
    int e = 0;
    DIR *dir = opendir(o->path);
    if (!dir)
        return -errno;
    for (const struct dirent *d; !e && (d = readdir(dir));)
        if (is_part(o->writer, d->d_name, tail) && unlinkat(dirfd(dir), d->d_name, 0) && errno != ENOENT)
            e = -errno;
    closedir(dir);
    return e;
}

/* Removes what was written before. The main file goes first: what is left if that is interrupted is no whole folder. */
static int clear(const void *context)
{
    const struct cairn_output *o = context;
    char path[PATH_MAX];
    path_of(path, o, o->writer->folder, ""); /* that and more was opened: there is room */
    if (unlink(path) && errno != ENOENT)
        return -errno;
    return remove_parts(o, "");
}

int cairn_folder_begin(struct cairn_output *o)
{
    char path[PATH_MAX];
    int e = path_of(path, o, o->writer->folder, CAIRN_PARTIAL) ? cairn_partial_folder(o->path) : -ENAMETOOLONG;
    if (e && e != -EEXIST)
        return e;
    path_of(path, o, o->writer->folder, "");
    o->file = cairn_partial_part(path);
    e = o->file ? 0 : -errno;
    if (!e) {
        /* From the first moment on it can be told whose folder this is. */
        fputs(o->writer->mark, o->file);
        e = fflush(o->file) ? -errno : remove_parts(o, CAIRN_PARTIAL); /* of one that was killed */
        if (e)
            fclose(o->file);
    }
    if (e)
        cairn_partial_drop();
    return e;
}

FILE *cairn_folder_part(const struct cairn_output *o, unsigned number)
{
    char path[PATH_MAX], digits[16];
    snprintf(digits, sizeof(digits), "%u", number);
    if (path_of(path, o, o->writer->parts, digits))
        return cairn_partial_part(path);
    errno = ENAMETOOLONG;
    return NULL;
}

int cairn_folder_end(struct cairn_output *o, int e)
{
    if (fclose(o->file) && !e)
        e = -errno;
    if (!e)
        return cairn_partial_commit(clear, o);
    cairn_partial_drop();
    return e;
}
