/* SPDX-License-Identifier: MIT */
/*
 * DS memory. Its addresses are linear, and QEMU walks the guest's page tables for each access of a plugin. So the
 * plugin remembers where each page is, like a processor's TLB, and forgets it with the same instructions: those that
 * load CR3 or another control register, and those that invalidate. It does not remember that a page is absent.
 */
#pragma once

#include "tools/qemu-ds/vcpu/vcpu.h"

/* At the plugin's start. */
void qds_memory_begin(void);

/* `size` bytes of one page; false where that is not there. */
bool qds_memory_read(struct qds_vcpu *v, uint64_t address, void *to, uint32_t size);
bool qds_memory_write(struct qds_vcpu *v, uint64_t address, const void *from, uint32_t size);

/* The same of physical memory, where architectural PEBS has its records; of any number of pages. */
bool qds_memory_read_physical(struct qds_vcpu *v, uint64_t address, void *to, uint32_t size);
bool qds_memory_write_physical(struct qds_vcpu *v, uint64_t address, const void *from, uint32_t size);

/* Where a linear address lies, whether that is remembered or not. QDS_NOWHERE: nowhere. */
uint64_t qds_memory_physical(uint64_t address);

/* Whether the instruction may change where pages lie. The board's `pages_known` is made 0 before it runs: nothing looks
 * at DS memory between that and its end. */
bool qds_memory_changes(const uint8_t *code, size_t length);
