/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/qemu/versions.h"

#include "tools/qemu-ds/qemu/exported.h"

/* Since when QEMU has what the plugin uses. 10.0 (API 4): scoreboards, inline additions, conditional callbacks,
 * read_register, read_memory_vaddr. 10.1 (5): write_register, read_memory_hwaddr, write_memory_hwaddr, translate_vaddr.
 * 10.2 (still 5): register_vcpu_discon_cb. 11.0 (6): set_pc. 11.1 (7): userdata in each callback. By qemu-plugin.h. */
QEMU_PLUGIN_EXPORT int qemu_plugin_version = 7;

/* A plugin has one version, and QEMU 11.1 takes 7 alone, which is too new for 11.0. QEMU reads the number when it has
 * loaded the plugin. */
__attribute__((constructor)) static void declare_version(void)
{
    if (qds_release() == QDS_RELEASE(11, 0))
        qemu_plugin_version = 6;
}

/* ---- version 6: functions with the names and arguments of 7's, and QEMU's own as version 6 declares them */

/* QEMU's takes the plugin's number and a callback with the arguments `given`, whose first is that number. What follows
 * is handed on, before userdata. */
#define VERSION_6(name, type, given, ...)                                                                              \
    void name##_of_6(qemu_plugin_id_t id, void(*callback) given) __asm__("qemu_plugin_" #name);                        \
    static struct {                                                                                                    \
        type callback;                                                                                                 \
        void *userdata;                                                                                                \
    } name;                                                                                                            \
    static void name##_calls given                                                                                     \
    {                                                                                                                  \
        (void)id;                                                                                                      \
        name.callback(__VA_ARGS__ name.userdata);                                                                      \
    }                                                                                                                  \
    static void name##_6(qemu_plugin_id_t id, type callback, void *userdata)                                           \
    {                                                                                                                  \
        name.callback = callback;                                                                                      \
        name.userdata = userdata;                                                                                      \
        name##_of_6(id, name##_calls);                                                                                 \
    }
VERSION_6(reset, qemu_plugin_udata_cb_t, (qemu_plugin_id_t id), )
VERSION_6(register_flush_cb, qemu_plugin_udata_cb_t, (qemu_plugin_id_t id), )
VERSION_6(register_vcpu_init_cb, qemu_plugin_vcpu_udata_cb_t, (qemu_plugin_id_t id, unsigned vcpu), vcpu, )
VERSION_6(register_vcpu_idle_cb, qemu_plugin_vcpu_udata_cb_t, (qemu_plugin_id_t id, unsigned vcpu), vcpu, )
VERSION_6(register_vcpu_resume_cb, qemu_plugin_vcpu_udata_cb_t, (qemu_plugin_id_t id, unsigned vcpu), vcpu, )
VERSION_6(register_vcpu_tb_trans_cb, qemu_plugin_vcpu_tb_trans_cb_t, (qemu_plugin_id_t id, struct qemu_plugin_tb *tb),
          tb, )

typedef void discontinuity_of_6(qemu_plugin_id_t id, unsigned vcpu, enum qemu_plugin_discon_type type, uint64_t from_pc,
                                uint64_t to_pc);
void register_vcpu_discon_cb_of_6(qemu_plugin_id_t id, enum qemu_plugin_discon_type types,
                                  discontinuity_of_6 *callback) __asm__("qemu_plugin_register_vcpu_discon_cb");
static struct {
    qemu_plugin_vcpu_discon_cb_t callback;
    void *userdata;
} discontinuity;

static void discontinuity_calls(qemu_plugin_id_t id, unsigned vcpu, enum qemu_plugin_discon_type type, uint64_t from_pc,
                                uint64_t to_pc)
{
    (void)id;
    discontinuity.callback(vcpu, type, from_pc, to_pc, discontinuity.userdata);
}

static void register_vcpu_discon_cb_6(qemu_plugin_id_t id, enum qemu_plugin_discon_type types,
                                      qemu_plugin_vcpu_discon_cb_t callback, void *userdata)
{
    discontinuity.callback = callback;
    discontinuity.userdata = userdata;
    register_vcpu_discon_cb_of_6(id, types, discontinuity_calls);
}

void register_atexit_cb_of_6(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t id, void *userdata),
                             void *userdata) __asm__("qemu_plugin_register_atexit_cb");
static qemu_plugin_udata_cb_t exit_callback;

static void exit_calls(qemu_plugin_id_t id, void *userdata)
{
    (void)id;
    exit_callback(userdata);
}

static void register_atexit_cb_6(qemu_plugin_id_t id, qemu_plugin_udata_cb_t callback, void *userdata)
{
    exit_callback = callback;
    register_atexit_cb_of_6(id, exit_calls, userdata);
}

/* ---- the tables */

#define OF_6(name) .name = name##_6,
#define OF_7(name) .name = qemu_plugin_##name,
static const struct qds_api version_6 = {QDS_API(OF_6)}, version_7 = {QDS_API(OF_7)};

const struct qds_api *qds_api;

bool qds_api_choose(int version)
{
    qds_api = version == 7 ? &version_7 : version == 6 ? &version_6 : NULL;
    return qds_api;
}
