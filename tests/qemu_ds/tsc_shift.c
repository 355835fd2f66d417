/* SPDX-License-Identifier: MIT */
/*
 * A plugin for QEMU 11 that moves the TSC of one vCPU, as firmware does that has written its IA32_TSC_ADJUST. QEMU
 * ignores such writes: so what RDTSC has returned is changed before the next instruction, or at the start of the next
 * block. Arguments: cpu=N,cycles=N (negative: behind).
 */
#include <stdlib.h>
#include <string.h>

#include "tools/qemu-ds/qemu/qemu_api.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 7;

static unsigned cpu;
static int64_t cycles;
static struct qemu_plugin_register *rax, *rdx;
static GByteArray *bytes;
static qemu_plugin_u64 read_it; /* not 0: the last instruction was RDTSC */

static uint64_t get(struct qemu_plugin_register *reg)
{
    uint64_t value = 0;
    g_byte_array_set_size(bytes, 0);
    if (qemu_plugin_read_register(reg, bytes))
        memcpy(&value, bytes->data, sizeof value);
    return value;
}

static void set(struct qemu_plugin_register *reg, uint64_t value)
{
    g_byte_array_set_size(bytes, sizeof value);
    memcpy(bytes->data, &value, sizeof value);
    qemu_plugin_write_register(reg, bytes);
}

static void move(unsigned vcpu, void *unused)
{
    (void)unused;
    *(uint64_t *)qemu_plugin_scoreboard_find(read_it.score, vcpu) = 0;
    if (vcpu != cpu)
        return;
    const uint64_t tsc = (get(rdx) << 32 | (uint32_t)get(rax)) + (uint64_t)cycles;
    set(rax, (uint32_t)tsc);
    set(rdx, tsc >> 32);
}

static void translated(struct qemu_plugin_tb *tb, void *unused)
{
    bool follows = false;
    (void)unused;
    qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, move, QEMU_PLUGIN_CB_RW_REGS, QEMU_PLUGIN_COND_NE, read_it, 0, NULL);
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint8_t code[2] = {0};
        if (follows)
            qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, move, QEMU_PLUGIN_CB_RW_REGS, QEMU_PLUGIN_COND_NE,
                                                        read_it, 0, NULL);
        follows = qemu_plugin_insn_data(insn, code, sizeof code) >= 2 && code[0] == 0x0F && code[1] == 0x31;
        if (follows)
            qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_PLUGIN_INLINE_STORE_U64, read_it, 1);
    }
}

static void found(unsigned vcpu, void *unused)
{
    (void)unused;
    if (vcpu != cpu)
        return;
    GArray *all = qemu_plugin_get_registers();
    for (unsigned i = 0; i < all->len; i++) {
        const qemu_plugin_reg_descriptor *reg = (const qemu_plugin_reg_descriptor *)all->data + i;
        if (strcmp(reg->name, "rax") == 0)
            rax = reg->handle;
        else if (strcmp(reg->name, "rdx") == 0)
            rdx = reg->handle;
    }
    g_array_free(all, 1);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "cpu=", 4) == 0)
            cpu = (unsigned)strtoul(argv[i] + 4, NULL, 10);
        else if (strncmp(argv[i], "cycles=", 7) == 0)
            cycles = strtoll(argv[i] + 7, NULL, 10);
    }
    bytes = g_byte_array_new();
    read_it.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
    qemu_plugin_register_vcpu_init_cb(id, found, NULL);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated, NULL);
    return 0;
}
