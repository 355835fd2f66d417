/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/vcpu/memory.h"

#include <string.h>

#include "tools/qemu-ds/qemu/exported.h"

#define PAGE UINT64_C(4096)

enum { LOAD, STORE };        /* of QEMU's MMUAccessType */
enum { PHYSICAL = 6 };       /* of target/i386/cpu.h: MMU_PHYS_IDX */
enum { ENTRY_PHYSICAL = 2 }; /* word of struct CPUTLBEntryFull */

/* How QEMU's own walks reach the guest's page tables: by a TLB of physical addresses. Sets where RAM is and, for STORE,
 * that it is written to. 0: done. These are QEMU 11.1's arguments. */
static int (*probe_access_full_mmu)(void *env, uint64_t address, int size, int access, int mmu, void **host,
                                    const uint64_t **entry);

void qds_memory_begin(void)
{
    if (qds_release() == QDS_RELEASE(11, 1))
        qds_exported("probe_access_full_mmu", &probe_access_full_mmu);
}

/* RAM, in QEMU. NULL: to be had otherwise, as what lies in two pages. The entry's address says that this QEMU numbers
 * its TLBs so. */
static void *ram(const struct qds_vcpu *v, uint64_t address, uint32_t size, int access)
{
    void *host;
    const uint64_t *entry;
    if (!v->env || !probe_access_full_mmu || address % PAGE + size > PAGE ||
        probe_access_full_mmu(v->env, address, (int)size, access, PHYSICAL, &host, &entry) != 0)
        return NULL;
    return entry[ENTRY_PHYSICAL] == (address & ~(PAGE - 1)) ? host : NULL;
}

/* Where `address` lies in physical memory. */
static bool find(struct qds_vcpu *v, uint64_t address, uint64_t *physical)
{
    const uint64_t page = address & ~(PAGE - 1);
    struct qds_page *p = &v->pages[page / PAGE % QDS_PAGES];
    if (!v->board->pages_known) {
        memset(v->pages, 0, sizeof v->pages);
        v->board->pages_known = 1;
    }
    if (!p->known || p->linear != page) {
        p->known = false;
        if (!qemu_plugin_translate_vaddr(page, &p->physical))
            return false;
        p->linear = page;
        p->known = true;
    }
    *physical = p->physical + (address - page);
    return true;
}

uint64_t qds_memory_physical(uint64_t address)
{
    uint64_t physical;
    return qemu_plugin_translate_vaddr(address, &physical) ? physical : QDS_NOWHERE;
}

bool qds_memory_read_physical(struct qds_vcpu *v, uint64_t address, void *to, uint32_t size)
{
    const void *at = ram(v, address, size, LOAD);
    if (at) {
        memcpy(to, at, size);
        return true;
    }
    if (qemu_plugin_read_memory_hwaddr(address, v->bytes, size) != 0)
        return false;
    memcpy(to, v->bytes->data, size);
    return true;
}

bool qds_memory_write_physical(struct qds_vcpu *v, uint64_t address, const void *from, uint32_t size)
{
    void *at = ram(v, address, size, STORE);
    if (at) {
        memcpy(at, from, size);
        return true;
    }
    g_byte_array_set_size(v->bytes, size);
    memcpy(v->bytes->data, from, size);
    return qemu_plugin_write_memory_hwaddr(address, v->bytes) == 0;
}

bool qds_memory_read(struct qds_vcpu *v, uint64_t address, void *to, uint32_t size)
{
    uint64_t physical;
    return find(v, address, &physical) && qds_memory_read_physical(v, physical, to, size);
}

bool qds_memory_write(struct qds_vcpu *v, uint64_t address, const void *from, uint32_t size)
{
    uint64_t physical;
    return find(v, address, &physical) && qds_memory_write_physical(v, physical, from, size);
}

/* MOV to a control register; LMSW, INVLPG and the others of their group; INVPCID; RSM. Any prefixes may come before,
 * and what only looks like one of them does no harm. */
bool qds_memory_changes(const uint8_t *code, size_t length)
{
    for (size_t i = 0; i + 1 < length; i++) {
        if (code[i] != 0x0F)
            continue;
        switch (code[i + 1]) {
        case 0x01:
        case 0x22:
        case 0xAA:
            return true;
        case 0x38:
            return i + 2 < length && code[i + 2] == 0x82;
        default:
            return false;
        }
    }
    return false;
}
