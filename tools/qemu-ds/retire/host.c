/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/retire/host.h"

#include <string.h>

#include "tools/qemu-ds/retire/truth.h"
#include "tools/qemu-ds/vcpu/flags.h"
#include "tools/qemu-ds/vcpu/memory.h"
#include "tools/qemu-ds/vcpu/pmi.h"

static bool read_memory(void *context, uint64_t address, void *to, uint32_t size)
{
    return qds_memory_read(context, address, to, size);
}

static bool write_memory(void *context, uint64_t address, const void *from, uint32_t size)
{
    return qds_memory_write(context, address, from, size);
}

static bool read_physical(void *context, uint64_t address, void *to, uint32_t size)
{
    return qds_memory_read_physical(context, address, to, size);
}

static bool write_physical(void *context, uint64_t address, const void *from, uint32_t size)
{
    return qds_memory_write_physical(context, address, from, size);
}

static uint32_t lvtpc(void *context)
{
    return qds_pmi_lvtpc(context);
}

/* What has been delivered since has pushed what it changed: an error code, with some exceptions, RIP, CS, RFLAGS, RSP,
 * SS (SDM vol. 3A, "64-Bit Mode Stack Frame"). */
static void undo_delivery(struct qds_vcpu *v, struct ds_model_registers *r)
{
    enum { FRAME_RFLAGS = 2, FRAME_RSP };
    uint64_t pushed[5];
    g_byte_array_set_size(v->bytes, 0);
    if (qemu_plugin_read_memory_vaddr(r->rsp, v->bytes, sizeof pushed)) {
        memcpy(pushed, v->bytes->data, sizeof pushed);
        const uint64_t *frame = pushed + (v->exception.raised && pushed[FRAME_RSP] != v->exception.rsp);
        r->rflags = frame[FRAME_RFLAGS];
        r->rsp = frame[FRAME_RSP];
    }
    r->rflags &= ~(uint64_t)QDS_RFLAGS_RF;
}

static void registers(void *context, struct ds_model_registers *out)
{
    struct qds_vcpu *v = context;
    *out = (struct ds_model_registers){
        .rip = v->retired_rip,
        .rax = qds_read(v, QDS_RAX),
        .rbx = qds_read(v, QDS_RBX),
        .rcx = qds_read(v, QDS_RCX),
        .rdx = qds_read(v, QDS_RDX),
        .rsi = qds_read(v, QDS_RSI),
        .rdi = qds_read(v, QDS_RDI),
        .rbp = qds_read(v, QDS_RBP),
        .rsp = qds_read(v, QDS_RSP),
        .eventing_ip = v->step.ip,
        .tsc = qds_tsc(v),
        .compatibility = v->step.compatibility,
    };
    for (unsigned i = 0; i < 8; i++)
        out->r8_r15[i] = qds_read(v, QDS_R8 + i);
    if (v->delivered)
        undo_delivery(v, out);
    else
        out->rflags = qds_flags(v);
}

static void xmm(void *context, struct ds_pebs_xmm *out)
{
    struct qds_vcpu *v = context;
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < 16; i++) {
        g_byte_array_set_size(v->bytes, 0);
        if (v->xmm[i] && qemu_plugin_read_register(v->xmm[i], v->bytes) && v->bytes->len >= 16)
            memcpy(out->xmm[i], v->bytes->data, 16);
    }
}

static void raise_pmi(void *context, uint32_t lvtpc)
{
    struct qds_vcpu *v = context;
    qds_pmi_deliver(v, lvtpc);
    v->pmis++;
    v->leave = true;
    qds_truth_pmi(v, lvtpc);
}

static void recorded(void *context, const struct ds_model_record *record)
{
    struct qds_vcpu *v = context;
    qds_truth_record(v, record);
    qds_silent_recorded(&v->silent, &v->model, record);
}

static void lost(void *context, uint64_t counters)
{
    struct qds_vcpu *v = context;
    qds_silent_lost(&v->silent, &v->model, counters);
}

static void acted(void *context, const struct ds_model_action *action)
{
    struct qds_vcpu *v = context;
    qds_silent_acted(&v->silent, &v->model, action);
}

struct ds_model_host qds_host(struct qds_vcpu *v)
{
    return (struct ds_model_host){.read = read_memory,
                                  .write = write_memory,
                                  .read_physical = read_physical,
                                  .write_physical = write_physical,
                                  .lvtpc = lvtpc,
                                  .registers = registers,
                                  .xmm = xmm,
                                  .raise_pmi = raise_pmi,
                                  .recorded = recorded,
                                  .lost = lost,
                                  .acted = acted,
                                  .context = v};
}
