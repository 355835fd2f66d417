/* SPDX-License-Identifier: MIT */
/* Names and codes of events, as perf has them, both ways. */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAB_NAME 128 /* bytes of an event's name or code, with what ends it */
/* Bits of perf_event.hw.config that do not say what is counted: USR, OS, INT, EN, and ADAPTIVE (records of format 4 and
 * up). Linux changes INT and ADAPTIVE when it turns PEBS on. */
#define GRAB_NAMES_NOT_COUNTED UINT64_C(0x400530000)

/* PERF_COUNT_HW_... of cycles, instructions, ... */
bool grab_names_hardware(uint64_t *config, const char *name);
/* perf_event_attr.type of a PMU, as /sys/bus/event_source/devices names it. */
bool grab_names_pmu(uint32_t *type, const char *name);
/* event=0xc0,umask=0x1,cmask=..,inv,edge,ldlat=N, as between slashes; changes `terms`. False: something else is there.
 */
bool grab_names_terms(uint64_t *config, uint64_t *config1, char *terms);
/* The way back: cpu/event=0xc0,umask=0x1/. */
void grab_names_code(char code[GRAB_NAME], const char *pmu, uint64_t config, uint64_t config1);
/* What perf calls it, with the letters behind ':'. */
void grab_names_event(char name[GRAB_NAME], const struct perf_event_attr *attr);
/* The PMU of the core that it is of: cpu, cpu_core, cpu_atom. */
void grab_names_core(char name[GRAB_NAME], const struct perf_event_attr *attr);
