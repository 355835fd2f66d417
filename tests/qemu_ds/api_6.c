/* SPDX-License-Identifier: MIT */
/*
 * QEMU 11.1 with plugin API 6 in front of the plugin, whose objects are linked with this file and ld's --wrap:
 * callbacks get the plugin's number and no userdata, as in include/plugins/qemu-plugin.h of QEMU 11.0. API: the version
 * that the plugin is told.
 */
#include <stdlib.h>

#include "tools/qemu-ds/qemu/qemu_api.h"

typedef void simple_cb(qemu_plugin_id_t id);
typedef void vcpu_simple_cb(qemu_plugin_id_t id, unsigned vcpu);

static qemu_plugin_id_t plugin;
static simple_cb *reset_cb, *flush_cb;
static vcpu_simple_cb *init_cb, *idle_cb, *resume_cb;
static void (*trans_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
static void (*discon_cb)(qemu_plugin_id_t id, unsigned vcpu, enum qemu_plugin_discon_type type, uint64_t from_pc,
                         uint64_t to_pc);
static void (*atexit_cb)(qemu_plugin_id_t id, void *userdata);

/* name(id, callback) of version 6, which the plugin calls, with name(id, callback, userdata) of QEMU's. */
#define SIMPLE(name, type, cb, takes, ...)                                                                             \
    __typeof__(qemu_plugin_##name) __real_qemu_plugin_##name;                                                          \
    void __wrap_qemu_plugin_##name(qemu_plugin_id_t id, type);                                                         \
    static void name##_called takes                                                                                    \
    {                                                                                                                  \
        (void)userdata;                                                                                                \
        cb(plugin, ##__VA_ARGS__);                                                                                     \
    }                                                                                                                  \
    void __wrap_qemu_plugin_##name(qemu_plugin_id_t id, type)                                                          \
    {                                                                                                                  \
        if (id != plugin)                                                                                              \
            abort();                                                                                                   \
        cb = callback;                                                                                                 \
        __real_qemu_plugin_##name(id, name##_called, NULL);                                                            \
    }
SIMPLE(reset, simple_cb *callback, reset_cb, (void *userdata))
SIMPLE(register_flush_cb, simple_cb *callback, flush_cb, (void *userdata))
SIMPLE(register_vcpu_init_cb, vcpu_simple_cb *callback, init_cb, (unsigned vcpu, void *userdata), vcpu)
SIMPLE(register_vcpu_idle_cb, vcpu_simple_cb *callback, idle_cb, (unsigned vcpu, void *userdata), vcpu)
SIMPLE(register_vcpu_resume_cb, vcpu_simple_cb *callback, resume_cb, (unsigned vcpu, void *userdata), vcpu)
SIMPLE(register_vcpu_tb_trans_cb, void (*callback)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb), trans_cb,
       (struct qemu_plugin_tb * tb, void *userdata), tb)

__typeof__(qemu_plugin_register_vcpu_discon_cb) __real_qemu_plugin_register_vcpu_discon_cb;
void __wrap_qemu_plugin_register_vcpu_discon_cb(qemu_plugin_id_t id, enum qemu_plugin_discon_type types,
                                                __typeof__(discon_cb) callback);
static void discontinuity(unsigned vcpu, enum qemu_plugin_discon_type type, uint64_t from_pc, uint64_t to_pc,
                          void *userdata)
{
    (void)userdata;
    discon_cb(plugin, vcpu, type, from_pc, to_pc);
}

void __wrap_qemu_plugin_register_vcpu_discon_cb(qemu_plugin_id_t id, enum qemu_plugin_discon_type types,
                                                __typeof__(discon_cb) callback)
{
    discon_cb = callback;
    __real_qemu_plugin_register_vcpu_discon_cb(id, types, discontinuity, NULL);
}

__typeof__(qemu_plugin_register_atexit_cb) __real_qemu_plugin_register_atexit_cb;
void __wrap_qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, __typeof__(atexit_cb) callback, void *userdata);
static void ends(void *userdata)
{
    atexit_cb(plugin, userdata);
}

void __wrap_qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, __typeof__(atexit_cb) callback, void *userdata)
{
    atexit_cb = callback;
    __real_qemu_plugin_register_atexit_cb(id, ends, userdata);
}

/* The plugin's qemu_plugin_install, renamed. */
int install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    qemu_info_t told = *info;
    told.version.min = told.version.cur = API;
    plugin = id;
    return install(id, &told, argc, argv);
}
