/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a log of any size, read through windows: a piece of the file at a time, so that neither memory nor
 * address space grows with its length. Input that cannot be read twice, such as a pipe, is copied to a temporary file
 * first.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_input {
    const char *name; /* for messages; not NULL */
    const char *data; /* all of it, where it is in memory; NULL: it is read from `fd` */
    uint64_t size;
    int fd;
    bool loaded, own;    /* to be given back: `data`, `fd` */
    const char *no_room; /* where it was not opened: the folder that did not take its copy, NULL: it was not for that */
    /* The first read that failed: negative errno, 0: none; and where. -ENODATA: the file has become shorter, -ESTALE:
     * it has changed. */
    int error;
    uint64_t error_at;
};

/* `path` "-" is standard input: read where it stands if it is a file, else copied to an unlinked temporary file in
 * $TMPDIR, else in /var/tmp or /tmp, as is any other path that is no regular file (or says that it is empty: those of
 * /proc do). 0 or negative errno, and nothing is open. */
int cairn_input_open(struct cairn_input *input, const char *path);
/* The same for at most `most` bytes: -EFBIG, and `no_room` is NULL, if there are more. */
int cairn_input_open_most(struct cairn_input *input, const char *path, uint64_t most);
/* All of it at `data`, for formats that are not read in order: a copy, which stays what it is whatever becomes of the
 * file. 0 or negative errno, which is noted. */
int cairn_input_load(struct cairn_input *input);
void cairn_input_close(struct cairn_input *input);
/* Opens an unlinked temporary file in $TMPDIR, else in /var/tmp or /tmp. Returns its descriptor or a negative errno;
 * *folder: where it is, or is not. */
int cairn_temporary(const char **folder);

/* Writes all of it, to any file. 0 or a negative errno. */
int cairn_input_write(int fd, const char *data, size_t size);

/* Notes that reading failed, if it is the first time. From any thread. */
void cairn_input_failed(struct cairn_input *input, int error, uint64_t at);
/* Whether -ESTALE has been noted: what is read from now on does not belong to what was read before. */
static inline bool cairn_input_changed(const struct cairn_input *input)
{
    return __atomic_load_n(&input->error, __ATOMIC_RELAXED) == -ESTALE;
}

/* `size` bytes from `at` on. False: they are not there; a read that fails is noted. Any thread. */
bool cairn_input_read(struct cairn_input *input, uint64_t at, void *to, size_t size);
/* Adds to an input that was made empty, with fd -1. It is in memory until it is large, then in a temporary file.
 * Returns 0 or a negative errno. */
int cairn_input_add(struct cairn_input *input, const void *data, size_t size);

/* ---- windows ---------------------------------------------------------------------------------------------------- */

#define CAIRN_WINDOW_BYTES 16384u
#define CAIRN_WINDOW_LEAST 8192u /* what can be asked for at once */

struct cairn_window {
    struct cairn_input *input;
    uint64_t at; /* offset of bytes[0] */
    size_t have;
    char bytes[CAIRN_WINDOW_BYTES];
};

void cairn_window_init(struct cairn_window *window, struct cairn_input *input);
/* The bytes from `offset` on: at least `want`, up to CAIRN_WINDOW_LEAST, or as many as there are. *have: how many.
 * Valid until the next call. A read that fails is the end of the input, and noted in it. */
const char *cairn_window(struct cairn_window *window, uint64_t offset, size_t want, size_t *have);
