/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/qemu/exported.h"

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

struct version { /* of QEMU's VersionInfo its first member, of VersionTriple the first two */
    const struct {
        int64_t major, minor;
    } * qemu;
};

void qds_exported(const char *name, void *to)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(to, &found, sizeof found);
}

int qds_release(void)
{
    const struct version *(*query)(void *error);
    qds_exported("qmp_query_version", &query);
    if (!query)
        return 0;
    const struct version *version = query(NULL);
    return (int)QDS_RELEASE(version->qemu->major, version->qemu->minor);
}
