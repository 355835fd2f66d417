/* SPDX-License-Identifier: MIT */
/* The machine's screen as a console, at its phases of a run: kernel/screen/screen.h on the framebuffer that the
 * firmware has set up. */
#pragma once

#include <stdint.h>

struct boot_info;

extern uint32_t kscreen_on; /* option screen= */

/* From now on there is somebody to ask for a framebuffer. Once, when the options are known. */
void kscreen_begin(const struct boot_info *info);
/* Maps the framebuffer, says in one line what there is, and adds it to the console. After arch_paging_init, before
 * other CPUs run. */
void kscreen_open(const struct boot_info *info);
/* The run ends before kscreen_open: the screen through the loader's page tables, where these reach it; without that
 * line, for they may be wrong. Nothing where there is a screen already, and nothing into what is memory. */
void kscreen_rescue(const struct boot_info *unused);
/* Has these lines at the top, and at the right of them a picture of `size` by `size` dark (bit 0 is set) and light
 * modules, each row `stride` bytes from the next; NULL: none. Not where a module would be smaller than two pixels: text
 * keeps 80 columns. Nothing where there is no screen. */
void kscreen_card(const char *lines, const uint8_t *modules, uint32_t size, uint32_t stride);
