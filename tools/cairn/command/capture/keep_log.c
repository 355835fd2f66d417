/* SPDX-License-Identifier: MIT */
/* Whether a file that would be overwritten is a log of Cairn, and whether it has a trace. */
#include "tools/cairn/command/capture/keep_log.h"

#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/cairn/base/error.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/frame/frame.h"
#include "tools/cairn/frame/input.h"

/* "~H00000000:" is how frames begin, or '=' in 8-bit lines. */
#define FRAME_HEAD 11u

/* What a serial log begins with: words of the firmware, the loader, the kernel. */
#define FIRST_WORDS    "^(BdsDxe: |Cairn loader [0-9.]+ on |cairn loader: FAILED: |Cairn [0-9.]+: )"
#define CLEARS_SCREEN  "\033[2J" /* the firmware's first bytes */
#define FIRST_LINE_MAX 300u

static bool is_frame_head(const char *p)
{
    return p[0] == '~' && cairn_is_stream(p[1]) && memchr(":=", p[FRAME_HEAD - 1], 2) &&
           strspn(p + 2, "0123456789abcdef") == FRAME_HEAD - 3;
}

struct found {
    bool frame, at_line_start; /* a head of a frame, anywhere; as the first of a line */
};

/* Reads up to the first frame that begins a line. A text can tell of frames, but hardly begins a line with one. */
static struct found find_frames(struct cairn_input *log)
{
    static struct cairn_window window;
    struct found found = {0};
    size_t have;
    cairn_window_init(&window, log);
    for (uint64_t at = 0;; at += have - FRAME_HEAD) { /* one byte more than a head less a byte: what is before it */
        const char *first = cairn_window(&window, at, CAIRN_WINDOW_LEAST, &have);
        if (have < FRAME_HEAD)
            return found;
        const char *last = first + have - FRAME_HEAD;
        for (const char *p = first; p <= last && (p = memchr(p, '~', (size_t)(last - p) + 1)); p++) {
            if (!is_frame_head(p))
                continue;
            found.frame = true;
            if (p == first ? at == 0 : p[-1] == '\n') {
                found.at_line_start = true;
                return found;
            }
        }
        if (have == FRAME_HEAD)
            return found;
    }
}

/* The first line with anything to see, without the escape sequences and control characters that firmware puts there. */
static void first_line(char out[FIRST_LINE_MAX + 1], const char *p, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size && n < FIRST_LINE_MAX; i++) {
        if (p[i] == '\n' && n)
            break;
        if (p[i] == 0x1B && i + 1 < size && p[i + 1] == '[') {
            size_t end = i + 2;
            while (end < size && strchr("0123456789;=?", p[end]) && p[end])
                end++;
            if (end < size && ((p[end] >= 'A' && p[end] <= 'Z') || (p[end] >= 'a' && p[end] <= 'z'))) {
                i = end;
                continue;
            }
        }
        if (p[i] == '\t' || ((unsigned char)p[i] >= ' ' && p[i] != 0x7F))
            out[n++] = p[i];
    }
    out[n] = '\0';
}

static bool has_first_words(struct cairn_input *log)
{
    static struct cairn_window window;
    char line[FIRST_LINE_MAX + 1];
    regex_t words;
    size_t have;
    cairn_window_init(&window, log);
    const char *p = cairn_window(&window, 0, CAIRN_WINDOW_LEAST, &have);
    if (have >= sizeof(CLEARS_SCREEN) - 1 && memcmp(p, CLEARS_SCREEN, sizeof(CLEARS_SCREEN) - 1) == 0)
        return true;
    first_line(line, p, have);
    if (regcomp(&words, FIRST_WORDS, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    const bool matches = regexec(&words, line, 0, NULL, 0) == 0;
    regfree(&words);
    return matches;
}

int cairn_keep_log(const char *option, const char *path)
{
    char kept[PATH_MAX];
    struct stat s;
    struct cairn_input there;
    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode) || s.st_size == 0)
        return 0;
    if (cairn_input_open(&there, path) == 0) {
        const struct found found = find_frames(&there);
        const bool ours = found.at_line_start || has_first_words(&there), whole = !there.error;
        cairn_input_close(&there);
        if (!ours && whole) {
            cairn_error("%s %s: this file exists and is not a serial log of Cairn; choose another name", option, path);
            return CAIRN_USAGE;
        }
        if (!found.frame && whole)
            return 0;
    }
    if (lstat(path, &s) == 0 && S_ISLNK(s.st_mode))
        return 0; /* who has made the link wants the file there written */
    errno = ENAMETOOLONG;
    if (snprintf(kept, sizeof(kept), "%s.1", path) < (int)sizeof(kept) && rename(path, kept) == 0)
        return 0;
    cairn_error("%s cannot be renamed to %s.1: %s", path, path, strerror(errno));
    return CAIRN_UNREADABLE;
}
