/* SPDX-License-Identifier: MIT */
#include "labs/host/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn static void refuse(const char *path, const char *why)
{
    printf("%s: %s: remove it, and run the lab again\n", path, why);
    exit(3);
}

void lab_log_open(struct cairn_log *log, const char *path)
{
    const struct cairn_choice choice = {0};
    struct cairn_input input;
    char refusal[CAIRN_REFUSAL] = "";
    if (cairn_input_open(&input, path) != 0 || cairn_log_read(log, &input, &choice, refusal) != 0)
        refuse(path, "not the log of a boot");
    if (cairn_log_damaged(log) || !log->has_truth || !log->session.known)
        refuse(path, "parts of the log are missing");
}

void lab_log_close(struct cairn_log *log)
{
    struct cairn_input input = log->input;
    cairn_log_free(log);
    cairn_input_close(&input);
}

const char *lab_log_name(const struct cairn_log *log, char *out, size_t size)
{
    char preset[32];
    uint64_t format = 0;
    (void)cairn_ds_number(&log->text, 0, "format", &format);
    cairn_slice_text(preset, sizeof preset, cairn_key(&log->text, "ds.preset"));
    if (cairn_log_modelled(log))
        snprintf(out, size, "model of %s, record format %" PRIu64, preset, format);
    else
        snprintf(out, size, "processor's Debug Store, record format %" PRIu64, format);
    return out;
}

void lab_broken(const char *what)
{
    printf("the check itself fails: %s\n", what);
    exit(3);
}
