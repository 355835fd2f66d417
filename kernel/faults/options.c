/* SPDX-License-Identifier: MIT */
/* The option panic=. */
#include "kernel/faults/faults.h"

#include "kernel/options/row.h"

uint32_t kfaults_way;

static const struct kopt_option way = {
    .name = "panic",
    .standard = "none",
    .text = "break the kernel on purpose in the middle of the run: now, null, stack (overflow), double (fault)",
    .field = &kfaults_way,
    .kind = WORD,
    .words = "none|now|null|stack|double"};
ROWS_ADD(kopt, way);
