/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/vcpu/memory.h"

#include <string.h>

#define PAGE UINT64_C(4096)

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
    if (qemu_plugin_read_memory_hwaddr(address, v->bytes, size) != 0)
        return false;
    memcpy(to, v->bytes->data, size);
    return true;
}

bool qds_memory_write_physical(struct qds_vcpu *v, uint64_t address, const void *from, uint32_t size)
{
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
