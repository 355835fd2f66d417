/* SPDX-License-Identifier: MIT */
#include "tools/cairn/frame/input.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cairn/base/bytes.h"

/* ---- opening ---------------------------------------------------------------------------------------------------- */

int cairn_input_write(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

/* A file that nobody else sees, gone when it is closed; or negative errno. */
static int temporary(const char *folder)
{
    char path[4096];
    if (snprintf(path, sizeof(path), "%s/cairn-XXXXXX", folder) >= (int)sizeof(path))
        return -ENAMETOOLONG;
    int fd = mkstemp(path);
    if (fd < 0)
        return -errno;
    unlink(path);
    return fd;
}

int cairn_temporary(const char **folder)
{
    const char *told = getenv("TMPDIR");
    const bool is_told = told && *told;
    *folder = is_told ? told : "/var/tmp";
    signal(SIGXFSZ, SIG_IGN); /* a file above the limit is an error like others: EFBIG */
    const int fd = temporary(*folder);
    return fd < 0 && !is_told ? temporary(*folder = "/tmp") : fd;
}

static int begin_copy(struct cairn_input *input)
{
    input->fd = cairn_temporary(&input->no_room);
    input->own = input->fd >= 0;
    return input->own ? 0 : input->fd;
}

/* What `fd` gives until its end, as a temporary file; where it gives nothing there is none. */
static int spool(struct cairn_input *input, int fd, uint64_t most)
{
    static char part[1 << 16];
    ssize_t n;
    input->fd = -1;
    while ((n = read(fd, part, sizeof(part))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        const bool large = n > 0 && (uint64_t)n > most - input->size;
        int e = n < 0 ? -errno : large ? -EFBIG : input->own ? 0 : begin_copy(input);
        if (!e)
            e = cairn_input_write(input->fd, part, (size_t)n);
        if (e) {
            input->no_room = n < 0 || large ? NULL : input->no_room;
            return e;
        }
        input->size += (size_t)n;
    }
    input->no_room = NULL;
    return 0;
}

int cairn_input_open(struct cairn_input *input, const char *path)
{
    return cairn_input_open_most(input, path, UINT64_MAX);
}

int cairn_input_open_most(struct cairn_input *input, const char *path, uint64_t most)
{
    const bool standard = strcmp(path, "-") == 0;
    struct stat st;
    *input = (struct cairn_input){.name = standard ? "standard input" : path};
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st)) {
        int e = -errno;
        if (fd >= 0 && !standard)
            close(fd);
        return e;
    }
    if (S_ISREG(st.st_mode) && st.st_size > 0 && (!standard || lseek(fd, 0, SEEK_CUR) == 0)) {
        input->fd = fd;
        input->own = !standard;
        input->size = (uint64_t)st.st_size;
        if (input->size <= most)
            return 0;
        if (input->own)
            close(fd);
        return -EFBIG;
    }
    int e = spool(input, fd, most);
    if (!standard)
        close(fd);
    if (e && input->own)
        close(input->fd);
    return e;
}

int cairn_input_load(struct cairn_input *input)
{
    if (input->data || !input->size)
        return 0;
    char *data = cairn_alloc(input->size);
    for (uint64_t at = 0; at < input->size;) {
        ssize_t n = pread(input->fd, data + at, input->size - at, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            cairn_input_failed(input, n < 0 ? -errno : -ENODATA, at);
            free(data);
            return input->error;
        }
        at += (uint64_t)n;
    }
    input->data = data;
    input->loaded = true;
    return 0;
}

void cairn_input_close(struct cairn_input *input)
{
    if (input->loaded)
        free((void *)input->data);
    if (input->own)
        close(input->fd);
    *input = (struct cairn_input){0};
}

bool cairn_input_read(struct cairn_input *input, uint64_t at, void *to, size_t size)
{
    if (at > input->size || size > input->size - at)
        return false;
    if (input->data)
        memcpy(to, input->data + at, size);
    for (size_t done = 0; !input->data && done < size;) {
        const ssize_t n = pread(input->fd, (char *)to + done, size - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            cairn_input_failed(input, n < 0 ? -errno : -ENODATA, at + done);
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

#define IN_MEMORY (UINT64_C(4) << 20)

int cairn_input_add(struct cairn_input *input, const void *data, size_t size)
{
    int e = input->error;
    if (e)
        return e;
    if (input->fd < 0 && input->size + size <= IN_MEMORY) {
        if (!input->data)
            input->data = cairn_alloc(IN_MEMORY);
        input->loaded = true;
        memcpy((char *)input->data + input->size, data, size);
        input->size += size;
        return 0;
    }
    if (input->fd < 0) {
        e = begin_copy(input);
        if (!e)
            e = cairn_input_write(input->fd, input->data, input->size);
        free((void *)input->data);
        input->data = NULL;
        input->loaded = false;
    }
    if (!e)
        e = cairn_input_write(input->fd, data, size);
    if (e)
        cairn_input_failed(input, e, input->size);
    input->size += size;
    return e;
}

/* ---- windows ---------------------------------------------------------------------------------------------------- */

void cairn_input_failed(struct cairn_input *input, int error, uint64_t at)
{
    int none = 0;
    if (__atomic_compare_exchange_n(&input->error, &none, error, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        input->error_at = at;
}

/* Fills the window from the first byte it does not have; false where no more comes. */
static bool fill(struct cairn_window *w)
{
    struct cairn_input *input = w->input;
    ssize_t n;
    do
        n = pread(input->fd, w->bytes + w->have, sizeof(w->bytes) - w->have, (off_t)(w->at + w->have));
    while (n < 0 && errno == EINTR);
    if (n > 0) {
        w->have += (size_t)n;
        return true;
    }
    cairn_input_failed(input, n < 0 ? -errno : -ENODATA, w->at + w->have);
    return false;
}

void cairn_window_init(struct cairn_window *w, struct cairn_input *input)
{
    w->input = input;
    w->at = w->have = 0;
}

const char *cairn_window(struct cairn_window *w, uint64_t offset, size_t want, size_t *have)
{
    const struct cairn_input *input = w->input;
    const uint64_t left = offset < input->size ? input->size - offset : 0;
    if (input->data) {
        *have = (size_t)left;
        return input->data + (left ? offset : 0);
    }
    if (want > left)
        want = (size_t)left;
    if (offset < w->at || offset > w->at + w->have) {
        w->at = offset;
        w->have = 0;
    }
    if (w->at + w->have - offset < want) { /* what is there of it goes to the front */
        w->have = (size_t)(w->at + w->have - offset);
        memmove(w->bytes, w->bytes + (offset - w->at), w->have);
        w->at = offset;
        while (w->have < want && fill(w))
            ;
    }
    const uint64_t inside = w->at + w->have - offset;
    *have = (size_t)(inside < left ? inside : left);
    return w->bytes + (offset - w->at);
}
