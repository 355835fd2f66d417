/* SPDX-License-Identifier: MIT */
/*
 * One plugin for versions 6 and 7 of QEMU's plugin interface. Of what is used here they differ in the functions of this
 * table alone: version 7 hands `userdata` to each callback, and version 6 the plugin's number instead. The functions of
 * the table are called as version 7 declares them, whatever the QEMU has. All else is called by its name.
 */
#pragma once

#include "tools/qemu-ds/qemu/qemu_api.h"

#define QDS_API(EACH)                                                                                                  \
    EACH(reset)                                                                                                        \
    EACH(register_vcpu_init_cb)                                                                                        \
    EACH(register_vcpu_idle_cb)                                                                                        \
    EACH(register_vcpu_resume_cb)                                                                                      \
    EACH(register_vcpu_discon_cb)                                                                                      \
    EACH(register_vcpu_tb_trans_cb)                                                                                    \
    EACH(register_flush_cb)                                                                                            \
    EACH(register_atexit_cb)

struct qds_api {
#define MEMBER(name) __typeof__(qemu_plugin_##name) *name;
    QDS_API(MEMBER)
#undef MEMBER
};

extern const struct qds_api *qds_api;

/* Sets qds_api for a QEMU whose current version is this. False: there is none for it. */
bool qds_api_choose(int version);
