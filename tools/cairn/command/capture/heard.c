/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memmem */
#include "tools/cairn/command/capture/heard.h"

#include <stdio.h>
#include <string.h>

size_t cairn_plain(char *out, const char *text, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        const unsigned char x = (unsigned char)text[i];
        if (x == 0x1B) {
            if (i + 1 < size && text[i + 1] == '[') { /* CSI: parameters, then one final character */
                for (i += 2; i < size && (text[i] < 0x40 || text[i] > 0x7E); i++)
                    ;
            } else {
                i++;
            }
        } else if (x == '\t' || (x >= ' ' && x <= '~')) {
            out[n++] = (char)x;
        }
    }
    while (n && out[n - 1] == ' ')
        n--;
    return n;
}

/* Keeps what comes behind `words`, or all of the line, if it is the first of its kind. */
static bool keep(char kept[CAIRN_HEARD_LINE], const char *line, const char *words, bool behind)
{
    const char *found = strstr(line, words);
    if (found && !kept[0])
        snprintf(kept, CAIRN_HEARD_LINE, "%s", behind ? found + strlen(words) : line);
    return found != NULL;
}

/* The firmware has found nothing to start, or what it has started came back, or it may not start it. */
static void hear_firmware(struct cairn_heard *h, const char *line)
{
    static const char *const nothing[] = {"UEFI Interactive Shell", "No bootable option", "failed to start Boot"};
    for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
        keep(h->firmware, line, nothing[i], false);
    if (strstr(line, "failed to load Boot") && (strstr(line, "Access Denied") || strstr(line, "Security Violation"))) {
        keep(h->firmware, line, "", false);
        h->refused = true;
    }
}

static void hear_kernel(struct cairn_heard *h, const char *line)
{
    static const char backend[] = "ds: backend ", fail[] = "FAIL: ", halted[] = "halted: you can switch";
    unsigned passed, failed;
    int end = 0;
    if (sscanf(line, "Cairn %*[0-9.]%n", &end) == 0 && end && line[end] == ':')
        h->kernel = true;
    if (strncmp(line, backend, strlen(backend)) == 0)
        keep(h->backend, line, backend, true);
    if (strncmp(line, fail, strlen(fail)) == 0)
        keep(h->fail, line, fail, true);
    if (sscanf(line, "SUMMARY: %u %*[a-z], %u %*[a-z]", &passed, &failed) == 2) {
        h->summary = true;
        h->passed = failed == 0;
    }
    h->monitor |= strncmp(line, "monitor: ", 9) == 0;
    h->halted |= strncmp(line, halted, strlen(halted)) == 0;
}

void cairn_heard(struct cairn_heard *h, const char *text, size_t size)
{
    static const char off[] = "cairn loader: the machine switches off in ";
    char line[CAIRN_HEARD_LINE];
    snprintf(line, sizeof(line), "%.*s", (int)(size < sizeof(line) ? size : sizeof(line) - 1), text);
    keep(h->loader, line, "cairn loader: FAILED: ", true);
    keep(h->not_saved, line, "cairn loader: NOT SAVED: the log of the last run: ", true);
    h->off |= strncmp(line, off, strlen(off)) == 0;
    if (!h->kernel)
        hear_firmware(h, line);
    hear_kernel(h, line);
}
