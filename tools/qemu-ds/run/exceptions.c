/* SPDX-License-Identifier: MIT */
/* Exceptions and interrupts, of which QEMU tells when they are raised and when they have been delivered. */
#include "tools/qemu-ds/run/instruments.h"
#include "tools/qemu-ds/run/run.h"
#include "tools/qemu-ds/run/settle.h"
#include "tools/qemu-ds/run/special.h"
#include "tools/qemu-ds/run/tally.h"
#include "tools/qemu-ds/vcpu/memory.h"

static bool fetched(struct qds_vcpu *v, uint64_t at)
{
    g_byte_array_set_size(v->bytes, 0);
    return qemu_plugin_read_memory_vaddr(at, v->bytes, 1);
}

/* QEMU has told of an exception and will tell of it again when it has been delivered, unless delivery raises another
 * one. Only then it says where for sure: a helper that faults in the middle of a block leaves RIP at its beginning. */
static void exception_raised(struct qds_vcpu *v)
{
    qds_special_faulted(v);
    if (!qds_instruments_counting() || v->exception.raised++)
        return;
    v->exception.tf = qds_read(v, QDS_EFLAGS) & QDS_RFLAGS_TF;
    v->exception.cpl = qds_cpl(v);
    v->exception.rsp = qds_read(v, QDS_RSP);
}

/* An exception has been delivered. True: what has run before it is settled. It belongs to the instruction at `from` and
 * keeps that from retiring, but for INT n, which retires where it leads if nothing else was raised, for what could not
 * even be fetched, which has not begun, and for #DB after single-stepping a jump to itself. */
static bool exception_delivered(struct qds_vcpu *v, uint64_t from)
{
    const struct qds_block_insn *i = qds_tally_at(v, qds_memory_physical(from));
    const struct ds_insn *insn = i ? &i->insn : v->step.on && v->step.ip == from ? &v->step.insn : NULL;
    if (!insn || !fetched(v, from))
        return true;
    if (insn->kind == DS_INSN_INTERRUPT && v->exception.raised == 1)
        return false;
    if (v->exception.tf && insn->direct && insn->displacement == -insn->length)
        return true;
    if (i) {
        qds_settle_forget(v, i->block);
        qds_tally_undo(v, i);
    }
    qds_settle_sync(v);
    if (v->step.on)
        qds_settle_hold(v);
    v->step.on = false;
    qds_settle_arm(v);
    return true;
}

/* QEMU delivers two #DB for an instruction that is single-stepped and comes to a data breakpoint: one for RFLAGS.TF,
 * and before the first instruction of the handler one for the breakpoint. A processor delivers one, with both in DR6,
 * as QEMU's has them. With an IST, as Linux has it for #DB, the second frame lies over the first, and the handler
 * returns to itself for ever. So the first frame is put back. True: a second one has been taken back. */
static bool again_stepped(struct qds_vcpu *v, uint64_t from, uint64_t to)
{
    const bool was = v->stepped.on, tf = v->stepped.tf;
    v->stepped.on = v->stepped.tf = false;
    if (!was && !tf)
        return false;
    const uint64_t rsp = qds_read(v, QDS_RSP), physical = qds_memory_physical(rsp);
    if (physical == QDS_NOWHERE || qds_memory_physical(rsp + QDS_FRAME - 1) != physical + QDS_FRAME - 1)
        return false;
    if (was && from == to && to == v->stepped.handler && rsp == v->stepped.rsp)
        return qds_memory_write_physical(v, physical, v->stepped.frame, QDS_FRAME);
    v->stepped.handler = to;
    v->stepped.rsp = rsp;
    v->stepped.on = tf && qds_memory_read_physical(v, physical, v->stepped.frame, QDS_FRAME);
    return false;
}

void qds_run_discontinuity(unsigned vcpu, enum qemu_plugin_discon_type type, uint64_t from, uint64_t to, void *userdata)
{
    struct qds_vcpu *v = qds_vcpu(vcpu);
    (void)userdata;
    bool settled = true;
    if (type == QEMU_PLUGIN_DISCON_EXCEPTION) {
        v->stepped.tf = qds_read(v, QDS_EFLAGS) & QDS_RFLAGS_TF;
        exception_raised(v);
        return;
    }
    if (again_stepped(v, from, to)) {
        v->exception.raised = 0;
        return;
    }
    v->delivered = true;
    if (v->exception.raised)
        settled = exception_delivered(v, from);
    else
        qds_tally_repeats(v, qds_memory_physical(from));
    if (settled) {
        const unsigned cpl = qds_cpl_before_delivery(v);
        qds_settle(v, from);
        if (v->branches[0] | v->branches[1]) {
            v->entered.on = true;
            v->entered.cpl = cpl;
            v->entered.from = from;
            qds_settle_sync(v);
            qds_settle_arm(v);
        }
    }
    v->delivered = false;
    v->exception.raised = 0;
    qds_instruments_relax(v);
}
