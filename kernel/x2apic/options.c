/* SPDX-License-Identifier: MIT */
/* The option x2apic=. */
#include "kernel/x2apic/x2apic.h"

#include "kernel/options/row.h"

uint32_t kx2apic_mode;

static const struct kopt_option x2apic = {
    .name = "x2apic",
    .standard = "auto",
    .text = "mode of the local APICs: on (x2APIC, in which SMM code of old firmware may hang), off (xAPIC, without the "
            "CPUs whose APIC ID is 255 or more) or auto (as the firmware left it, or x2APIC if such CPUs exist)",
    .field = &kx2apic_mode,
    .kind = WORD,
    .words = "auto|on|off"};
ROWS_ADD(kopt, x2apic);
