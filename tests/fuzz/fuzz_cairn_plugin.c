/* SPDX-License-Identifier: MIT */
/*
 * The reader of the plugin's truth, and the comparison of a log with it: the input is a truth up to the first byte 0,
 * then payloads of the log's frames (fuzz_frames). A truth that is refused is tried again with the end that the plugin
 * would have given it.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/log.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/model/plugin_truth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each line has been counted, and each word belongs to a record. */
static void believe(const struct cairn_plugin *p)
{
    size_t words = 0;
    for (unsigned i = 0; i < MAX_CPUS; i++) {
        const struct cairn_plugin_cpu *cpu = &p->cpu[i];
        uint64_t dropped = 0;
        for (size_t r = 0; r < cpu->records.count; r++) {
            const struct cairn_plugin_record *record = &cpu->records.items[r];
            words += record->words;
            dropped += !record->words;
            if (record->first > p->words.count || record->words > p->words.count - record->first)
                abort();
        }
        if (cpu->records.count - dropped != cpu->totals[QDS_TRUTH_RECORDS] ||
            dropped != cpu->totals[QDS_TRUTH_DROPPED] || cpu->branches.count != cpu->totals[QDS_TRUTH_BRANCHES])
            abort();
    }
    if (words != p->words.count)
        abort();
}

/* Whether it is one: then `p` has what it says. Of one that is none it has what was read of it. */
static bool read_truth(struct cairn_plugin *p, const char *truth, size_t size)
{
    char why[CAIRN_PLUGIN_REFUSAL] = "";
    char *bytes = malloc(size + !size); /* exactly as large: reading beyond it is seen */
    if (!bytes)
        abort();
    memcpy(bytes, truth, size);
    int e = cairn_plugin_read(p, bytes, size, why);
    free(bytes);
    if (e && (!why[0] || strlen(why) == CAIRN_PLUGIN_REFUSAL - 1))
        abort(); /* it does not say why, or not all of it */
    if (!e)
        believe(p);
    return !e;
}

/* As read_truth(), of the truth with an end. */
static bool read_ended(struct cairn_plugin *p, const char *truth, size_t size)
{
    char *ended;
    size_t ended_size;
    FILE *out = open_memstream(&ended, &ended_size);
    if (!out)
        abort();
    fwrite(truth, 1, size, out);
    for (unsigned i = 0; i < MAX_CPUS; i++) {
        fprintf(out, "%u 0 total", i);
        for (unsigned t = 0; t < QDS_TRUTH_TOTALS; t++)
            fprintf(out, " %s %" PRIu64, qds_truth_totals[t], p->cpu[i].totals[t]);
        fprintf(out, "\n");
    }
    fprintf(out, "end\n");
    if (fclose(out))
        abort();
    cairn_plugin_free(p);
    bool good = read_truth(p, ended, ended_size);
    free(ended);
    return good;
}

static void compare(const struct cairn_log *log, void *plugin)
{
    struct cairn_check check;
    char why[CAIRN_WHY];
    if (cairn_log_modelled(log))
        return;
    cairn_check_init(&check, log, fuzz_nowhere);
    check.plugin = plugin;
    cairn_check_plugin(&check);
    for (unsigned i = 0; i < CAIRN_RULES; i++)
        if (cairn_check_applies(&check, i))
            cairn_check_word(&check, i, why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cairn_plugin plugin;
    const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
    size_t truth = nul ? (size_t)(nul - data) : size;
    if ((read_truth(&plugin, (const char *)data, truth) || read_ended(&plugin, (const char *)data, truth)) && nul) {
        size_t log_size;
        char *log = fuzz_frames(nul + 1, size - truth - 1, &log_size);
        fuzz_sessions(log, log_size, compare, &plugin);
        free(log);
    }
    cairn_plugin_free(&plugin);
    return 0;
}
