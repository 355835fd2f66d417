/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/vcpu/vcpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/qemu-ds/vcpu/memory.h"

struct qds_vcpu *qds_vcpus[QDS_VCPUS];
static struct qemu_plugin_scoreboard *boards;
static pthread_once_t first = PTHREAD_ONCE_INIT;
static size_t begins; /* where a board begins in its element: with a cache line, unless QEMU moves them */

void qds_boards_new(void)
{
    boards = qemu_plugin_scoreboard_new(QDS_BOARD_SIZE);
}

/* There are none before the first vCPU. */
static void align_boards(void)
{
    begins = -(uintptr_t)qemu_plugin_scoreboard_find(boards, 0) % QDS_LINE;
}

qemu_plugin_u64 qds_boards_entry(size_t offset)
{
    return (qemu_plugin_u64){boards, begins + offset};
}

static void find_board(struct qds_vcpu *v)
{
    v->board = (void *)((char *)qemu_plugin_scoreboard_find(boards, v->index) + begins);
    v->counting.now = &v->board->now;
}

static void keep(struct qds_block *b)
{
    if (b)
        b->kept = true;
}

static void keep_of(const struct qds_block_insn *i)
{
    keep(i ? i->block : NULL);
}

void qds_vcpus_keep_blocks(void)
{
    for (unsigned i = 0; i < QDS_VCPUS; i++) {
        struct qds_vcpu *v = qds_vcpus[i];
        if (!v)
            continue;
        find_board(v);
        v->board->pages_known = 0;
        keep((void *)(uintptr_t)v->board->block);
        keep(v->step.block);
        keep((struct qds_block *)v->history.block);
        keep_of(v->counted.from);
        for (unsigned store = 0; store < 2; store++)
            keep_of((const void *)(uintptr_t)v->board->accessed[store]);
    }
}

void qds_vcpus_forget_blocks(void)
{
    for (unsigned i = 0; i < QDS_VCPUS; i++)
        if (qds_vcpus[i]) {
            qds_vcpus[i]->board->block = 0;
            qds_vcpus[i]->board->accessed[0] = qds_vcpus[i]->board->accessed[1] = 0;
            qds_vcpus[i]->step.block = NULL;
            qds_vcpus[i]->history.block = NULL;
            qds_vcpus[i]->counted.from = qds_vcpus[i]->counted.to = NULL;
        }
}

uint64_t qds_read_slowly(struct qds_vcpu *v, enum qds_register reg)
{
    uint64_t value = 0;
    g_byte_array_set_size(v->bytes, 0);
    if (qemu_plugin_read_register(v->handle[reg], v->bytes))
        memcpy(&value, v->bytes->data, v->bytes->len < 8 ? v->bytes->len : 8);
    return value;
}

void qds_write(struct qds_vcpu *v, enum qds_register reg, uint64_t value)
{
    if (v->env && reg == QDS_EFLAGS) { /* for each record, and QEMU does no more there */
        v->env[v->env_rip + 1] = (uint32_t)value;
        return;
    }
    g_byte_array_set_size(v->bytes, sizeof value);
    memcpy(v->bytes->data, &value, sizeof value);
    qemu_plugin_write_register(v->handle[reg], v->bytes);
}

unsigned qds_cpl(struct qds_vcpu *v)
{
    if (!(qds_read(v, QDS_CR0) & 1)) /* PE */
        return 0;
    return qds_read(v, QDS_EFLAGS) & QDS_RFLAGS_VM ? 3 : qds_read(v, QDS_CS) & 3;
}

uint32_t qds_read_device(struct qds_vcpu *v, uint64_t address)
{
    uint32_t value = 0;
    g_byte_array_set_size(v->bytes, 0);
    if (qemu_plugin_read_memory_hwaddr(address, v->bytes, sizeof value) == 0)
        memcpy(&value, v->bytes->data, sizeof value);
    return value;
}

void qds_write_device(struct qds_vcpu *v, uint64_t address, uint32_t value)
{
    g_byte_array_set_size(v->bytes, sizeof value);
    memcpy(v->bytes->data, &value, sizeof value);
    qemu_plugin_write_memory_hwaddr(address, v->bytes);
}

unsigned qds_cpl_before_delivery(struct qds_vcpu *v)
{
    uint64_t cs;
    if (v->delivered && v->exception.raised)
        return v->exception.cpl;
    return v->delivered && qds_memory_read(v, qds_read(v, QDS_RSP) + 8, &cs, 8) ? cs & 3 : qds_cpl(v);
}

static struct qemu_plugin_register *find(const GArray *registers, const char *name)
{
    const qemu_plugin_reg_descriptor *d = (const void *)registers->data;
    for (unsigned i = 0; i < registers->len; i++)
        if (strcmp(d[i].name, name) == 0)
            return d[i].handle;
    return NULL;
}

bool qds_vcpu_attach(struct qds_vcpu *v)
{
    static const char *const names[QDS_REGISTERS] = {
        "rax", "rcx", "rdx", "rbx",    "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10",     "r11",     "r12", "r13",
        "r14", "r15", "rip", "eflags", "es",  "cs",  "ss",  "ds",  "fs", "gs", "fs_base", "gs_base", "cr0", "cr4"};
    pthread_once(&first, align_boards);
    find_board(v);
    if (!v->bytes)
        v->bytes = g_byte_array_new();
    GArray *all = qemu_plugin_get_registers();
    bool found = true;
    for (unsigned i = 0; i < QDS_REGISTERS; i++)
        found &= (v->handle[i] = find(all, names[i])) != NULL;
    for (unsigned i = 0; i < 16; i++) {
        char name[8];
        snprintf(name, sizeof name, "xmm%u", i);
        found &= (v->xmm[i] = find(all, name)) != NULL;
    }
    g_array_free(all, 1);
    return found;
}
