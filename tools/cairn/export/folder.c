/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/cairn/export/folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARTIAL ".partial"

static const char *path_of(char out[PATH_MAX], const struct cairn_output *o, const char *name, const char *more)
{
    const int n = snprintf(out, PATH_MAX, "%s/%s%s", o->path, name, more);
    return n < PATH_MAX ? out : NULL;
}

static bool is_part(const struct cairn_writer *w, const char *name)
{
    const size_t head = strlen(w->parts);
    return strncmp(name, w->parts, head) == 0 && name[head] && !name[head + strspn(name + head, "0123456789")];
}

static bool is_main(const struct cairn_writer *w, const char *name)
{
    const size_t head = strlen(w->folder);
    return strncmp(name, w->folder, head) == 0 && (!name[head] || strcmp(name + head, PARTIAL) == 0);
}

static bool is_own(const struct cairn_output *o, const char *name)
{
    char path[PATH_MAX], start[4096];
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
        if (is_main(o->writer, d->d_name) && is_own(o, d->d_name))
            own = true;
        else if (is_part(o->writer, d->d_name))
            parts = true;
        else
            others = true;
    }
    closedir(dir);
    return others || (parts && !own);
}

/* Removes the format's files. The main file goes first: what is left if that is interrupted is no whole folder. */
static int clear(const struct cairn_output *o)
{
    char path[PATH_MAX];
    int e = 0;
    if (!path_of(path, o, o->writer->folder, ""))
        return -ENAMETOOLONG;
    if (unlink(path) && errno != ENOENT)
        return -errno;
    DIR *dir = opendir(o->path);
    if (!dir)
        return -errno;
    for (const struct dirent *d; !e && (d = readdir(dir));)
        if (is_part(o->writer, d->d_name) && unlinkat(dirfd(dir), d->d_name, 0) && errno != ENOENT)
            e = -errno;
    closedir(dir);
    return e;
}

int cairn_folder_begin(struct cairn_output *o)
{
    char path[PATH_MAX];
    const bool made = mkdir(o->path, 0777) == 0;
    if (!made && errno != EEXIST)
        return -errno;
    if (!path_of(path, o, o->writer->folder, PARTIAL))
        return -ENAMETOOLONG;
    o->made = made;
    o->file = fopen(path, "wb");
    int e = o->file ? 0 : -errno;
    if (e) {
        if (made)
            rmdir(o->path);
        return e;
    }
    /* From the first moment on it can be told whose folder this is. */
    fputs(o->writer->mark, o->file);
    e = fflush(o->file) ? -errno : clear(o);
    return e ? cairn_folder_end(o, e) : 0;
}

FILE *cairn_folder_part(const struct cairn_output *o, unsigned number)
{
    char path[PATH_MAX], digits[16];
    snprintf(digits, sizeof(digits), "%u", number);
    if (path_of(path, o, o->writer->parts, digits))
        return fopen(path, "wb");
    errno = ENAMETOOLONG;
    return NULL;
}

int cairn_folder_end(struct cairn_output *o, int e)
{
    char partial[PATH_MAX], path[PATH_MAX];
    if (fclose(o->file) && !e)
        e = -errno;
    path_of(partial, o, o->writer->folder, PARTIAL); /* it was opened: there is room */
    path_of(path, o, o->writer->folder, "");
    if (!e && rename(partial, path))
        e = -errno;
    if (!e)
        return 0;
    clear(o);
    unlink(partial);
    if (o->made)
        rmdir(o->path);
    return e;
}
