/* SPDX-License-Identifier: MIT */
/* release PLUGIN MAJOR MINOR: the version of the plugin interface that the plugin has for a QEMU of this release. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    int64_t major, minor, micro;
} triple;
static struct {
    const void *qemu;
    const char *package;
} version = {&triple, ""};

const void *qmp_query_version(void *error);
const void *qmp_query_version(void *error)
{
    (void)error;
    return &version;
}

/* Those that the plugin has the addresses of; all others it would find when it calls them. */
#define FUNCTION(name)                                                                                                 \
    void qemu_plugin_##name(void);                                                                                     \
    void qemu_plugin_##name(void)                                                                                      \
    {                                                                                                                  \
        abort();                                                                                                       \
    }
FUNCTION(reset)
FUNCTION(register_vcpu_init_cb)
FUNCTION(register_vcpu_idle_cb)
FUNCTION(register_vcpu_resume_cb)
FUNCTION(register_vcpu_tb_trans_cb)
FUNCTION(register_flush_cb)
FUNCTION(register_atexit_cb)

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    triple.major = atoi(argv[2]);
    triple.minor = atoi(argv[3]);
    void *plugin = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
    const int *declared = plugin ? dlsym(plugin, "qemu_plugin_version") : NULL;
    if (!declared) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    printf("%d\n", *declared);
    return 0;
}
