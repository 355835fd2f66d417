/* SPDX-License-Identifier: MIT */
/*
 * The model's state in QEMU's snapshots and migration streams: a section "qemu-ds" of its own. Plugins are not meant to
 * have one: it takes functions of QEMU's that its binary may not export, and a structure whose layout is known for QEMU
 * 11.1 alone. Without them, and where a stream comes from a QEMU without the plugin, a vCPU that goes on from it says
 * that its counts are wrong.
 */
#pragma once

#include "tools/qemu-ds/vcpu/vcpu.h"

/* At the plugin's start. */
void qds_snapshot_begin(int vcpus);
/* A snapshot is about to be loaded. All vCPUs stand still. */
void qds_snapshot_expect(void);
/* A block of a vCPU is translated that is v->fresh: tells stderr if that is in the middle of a system, though its model
 * is as after RESET. */
void qds_snapshot_check(struct qds_vcpu *v);
