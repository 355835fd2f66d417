/* SPDX-License-Identifier: MIT */
/* The performance-monitoring interrupt: its handler does no more than to queue the DPC in which the driver works. */
#pragma once

/* Once, boot processor, before the Debug Store starts anywhere. */
void kpmi_init(void);
