/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/fuzz/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/fuzz/log.h"
#include "tools/cairn/command/command.h"

#define NAME_MOST 32u

static void expect(bool so)
{
    if (!so)
        abort();
}

bool fuzz_export(const struct cairn_log *log, const struct cairn_writer *writer, const char *name,
                 char folder[FUZZ_FOLDER])
{
    const char *where = getenv("TMPDIR");
    char path[FUZZ_FOLDER + NAME_MOST];
    snprintf(folder, FUZZ_FOLDER, "%s/cairn-fuzz-XXXXXX", where ? where : "/tmp");
    expect(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s%s%s", folder, name ? "/" : "", name ? name : "");
    struct cairn_output o = {.log = log, .writer = writer, .path = path};
    FILE *errors = stderr;
    stderr = fuzz_nowhere;
    const int status = cairn_export(&o, CAIRN_BY_FORMAT);
    stderr = errors;
    expect(status == (log->input.error ? CAIRN_UNREADABLE : CAIRN_GOOD));
    if (log->input.error)
        expect(!rmdir(folder));
    return !log->input.error;
}

uint8_t *fuzz_take_file(const char *folder, const char *name, size_t *size)
{
    char path[FUZZ_FOLDER + NAME_MOST];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    expect(f && !fseek(f, 0, SEEK_END));
    *size = (size_t)ftell(f);
    uint8_t *data = malloc(*size);
    rewind(f);
    expect(data && fread(data, 1, *size, f) == *size);
    fclose(f);
    expect(!unlink(path));
    return data;
}
