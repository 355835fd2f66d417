/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* euidaccess */
#include "tools/cairn/export/partial.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/frame/deframe.h"
#include "tools/cairn/log/cpu.h"

#define LINKS_MOST 40 /* as Linux follows */
#define NAMES_MOST 100

static struct {
    char *is, *becomes; /* becomes NULL: a folder */
} parts[CAIRN_CPUS_MOST + 2];
static volatile sig_atomic_t count; /* of the parts that are told apart, so that a handler may remove them */

/* ---- when the process ends -------------------------------------------------------------------------------------- */

static const int deadly[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};

/* Also in a signal's handler: memory is not touched. */
static void remove_parts(void)
{
    for (int i = count; i-- > 0;)
        if (unlink(parts[i].is) && !parts[i].becomes)
            rmdir(parts[i].is);
}

static void end_by(int number)
{
    remove_parts();
    raise(number); /* SA_RESETHAND: that is the end, once this returns */
}

static void watch(void)
{
    static bool watching;
    if (watching)
        return;
    watching = true;
    atexit(remove_parts);
    for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
        struct sigaction now;
        if (sigaction(deadly[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL) /* not of nohup */
            sigaction(deadly[i], &(struct sigaction){.sa_handler = end_by, .sa_flags = (int)SA_RESETHAND}, NULL);
    }
    signal(SIGXFSZ, SIG_IGN); /* a file above the limit is an error like others: EFBIG */
}

static void forget(void)
{
    const int all = count;
    count = 0;
    for (int i = 0; i < all; i++) {
        free(parts[i].is);
        free(parts[i].becomes);
        parts[i].becomes = NULL;
    }
}

void cairn_partial_drop(void)
{
    remove_parts();
    forget();
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static char *join(const char *a, size_t size, const char *b)
{
    char *joined = cairn_alloc(size + strlen(b) + 1);
    memcpy(joined, a, size);
    strcpy(joined + size, b);
    return joined;
}

/* Of a path, up to its last slash. */
static size_t folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* What the path stands for, which need not be there. NULL: its links end nowhere. */
static char *followed(const char *path)
{
    char *at = join(path, strlen(path), ""), target[PATH_MAX];
    for (int links = 0; links < LINKS_MOST; links++) {
        const ssize_t size = readlink(at, target, sizeof(target) - 1);
        if (size < 0)
            return at;
        target[size] = '\0';
        char *next = join(at, target[0] == '/' ? 0 : folder_of(at), target);
        free(at);
        at = next;
    }
    free(at);
    return NULL;
}

/* Creates it, as one of the parts: no signal finds it forgotten, or one there that is another's. */
static FILE *create(char *is, char *becomes)
{
    sigset_t all, before;
    watch();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    const int fd = open(is, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (file) {
        parts[count].is = is;
        parts[count].becomes = becomes;
        count++;
    } else if (fd >= 0) {
        close(fd);
        unlink(is);
    }
    const int e = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = e;
    return file;
}

FILE *cairn_partial_part(const char *path)
{
    char *is = join(path, strlen(path), CAIRN_PARTIAL), *becomes = join(path, strlen(path), "");
    unlink(is);
    FILE *file = create(is, becomes);
    const int e = errno;
    if (!file) {
        free(is);
        free(becomes);
    }
    errno = e;
    return file;
}

/* Makes the file what the one is that it will replace; only root can give it to its owner. */
static void resemble(int fd, const struct stat *old)
{
    if (fchown(fd, old->st_uid, old->st_gid) == 0 || errno == EPERM)
        fchmod(fd, old->st_mode & 0777);
}

FILE *cairn_partial_file(const char *path)
{
    char *becomes = followed(path), name[64];
    struct stat old;
    const bool there = becomes && stat(becomes, &old) == 0;
    int e = !becomes ? ELOOP : there && euidaccess(becomes, W_OK) ? errno : 0;
    for (long n = getpid(), last = n + NAMES_MOST; (!e || e == EEXIST) && n < last; n++) {
        snprintf(name, sizeof(name), "cairn-%ld" CAIRN_PARTIAL, n); /* short: FILE's may be as long as names can be */
        char *is = join(becomes, folder_of(becomes), name);
        FILE *file = create(is, becomes);
        if (file) {
            if (there)
                resemble(fileno(file), &old);
            return file;
        }
        e = errno;
        free(is);
    }
    free(becomes);
    errno = e;
    return NULL;
}

const char *cairn_partial_path(void)
{
    return parts[0].is;
}

int cairn_partial_folder(const char *path)
{
    if (mkdir(path, 0777))
        return -errno;
    watch();
    parts[count].is = join(path, strlen(path), "");
    count++;
    return 0;
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

int cairn_partial_commit(int (*clear)(const void *context), const void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    int e = clear ? clear(context) : 0;
    for (int i = count; !e && i-- > 0;)
        if (parts[i].becomes && rename(parts[i].is, parts[i].becomes))
            e = -errno;
    if (e)
        cairn_partial_drop();
    else
        forget();
    sigprocmask(SIG_SETMASK, &before, NULL);
    return e;
}
