/* SPDX-License-Identifier: MIT */
/*
 * The model's state in QEMU's snapshots and migration streams: a section "qemu-ds" of its own. Plugins are not meant to
 * have one: it takes functions of QEMU's that its binary may not export, and a structure whose layout is known for QEMU
 * 11.1 alone. Without them, and where a stream comes from a QEMU without the plugin, a vCPU that goes on from it says
 * that its counts are wrong.
 */
#pragma once

#include "tools/qemu-ds/vcpu.h"

/* At the plugin's start. */
void qds_snapshot_begin(int vcpus);
/* The first block since the vCPU's model has been as after RESET is translated: tells stderr if it is in the middle of
 * a system. */
void qds_snapshot_check(struct qds_vcpu *v);
