/* SPDX-License-Identifier: MIT */
/*
 * NtQuerySystemInformation and NtSetSystemInformation, as far as they control the trace and the Debug Store: the
 * information classes of trace/wire/sysinfo.h, each with the input that Windows takes and the NTSTATUS that it returns.
 * docs/reference/control.md describes them. Only the kernel calls them, so they do not have Windows' checks of a user's
 * addresses and privileges.
 *
 * `information` needs no alignment; `length` is its size in bytes. A call that does not return STATUS_SUCCESS has
 * changed nothing. But the buffer of SystemProcessorProfileControlArea is written whenever its length is right. Thread
 * context, no spinlock held.
 */
#pragma once

#include <stdint.h>

#include "kernel/windows/ntstatus.h"
#include "trace/wire/sysinfo.h"

/* `returned` (may be NULL): on success the bytes written into `information`; with STATUS_INFO_LENGTH_MISMATCH those
 * wanted, where there is but one right length or a longest one; else 0. */
kntstatus ksysinfo_query(uint32_t information_class, void *information, uint32_t length, uint32_t *returned);
kntstatus ksysinfo_set(uint32_t information_class, void *information, uint32_t length);
