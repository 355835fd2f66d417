/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/run/accesses.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/qemu-ds/modelled/costs.h"
#include "tools/qemu-ds/modelled/memory_options.h"
#include "tools/qemu-ds/qemu/end.h"
#include "tools/qemu-ds/run/tally.h"

#define WIDEST 16u /* bytes of an access */

static struct qds_memory_config config;
static unsigned vcpus;
static struct qds_core *cores[QDS_VCPUS];
static struct ds_model_access hit; /* in DTLB and L1, as most are */

void qds_accesses_begin(const struct qds_memory_config *wanted, unsigned number)
{
    config = *wanted;
    vcpus = number;
    struct qds_memory *memory = qds_memory_new(&config, vcpus);
    if (!memory)
        qds_refuse("memory=model: not enough memory for the caches of %u vCPUs", vcpus);
    for (unsigned i = 0; i < vcpus; i++)
        cores[i] = qds_memory_core(memory, i);
    hit = (struct ds_model_access){.source = DS_MODEL_SOURCE_L1, .latency = config.caches.latency[DS_MODEL_SOURCE_L1]};
}

/* ---- what an access is ------------------------------------------------------------------------------------------- */

static bool walk(void *context, uint64_t address, uint64_t *physical)
{
    const qemu_plugin_meminfo_t *info = context;
    const struct qemu_plugin_hwaddr *found = qemu_plugin_get_hwaddr(*info, address);
    if (!found) /* it has left QEMU's TLB again */
        return qemu_plugin_translate_vaddr(address, physical);
    *physical = qemu_plugin_hwaddr_phys_addr(found);
    return !qemu_plugin_hwaddr_is_io(found);
}

/* The events of a load or a store, amounts left out. */
static uint64_t events(const struct ds_model_access *a, bool store, uint64_t threshold)
{
#define EVENT(e) DS_BIT(DS_MODEL_##e)
    static const uint64_t loads[DS_MODEL_SOURCES] = {
        [DS_MODEL_SOURCE_L1] = EVENT(LOAD_L1_HIT) | EVENT(LOAD_L1_COUNTED) | EVENT(LOAD_L1_L2_HIT),
        [DS_MODEL_SOURCE_FILL_BUFFER] = EVENT(LOAD_FILL_BUFFER),
        [DS_MODEL_SOURCE_L2] = EVENT(LOAD_L1_MISS) | EVENT(LOAD_L2_HIT) | EVENT(LOAD_L1_L2_HIT),
        [DS_MODEL_SOURCE_L3] = EVENT(LOAD_L1_MISS) | EVENT(LOAD_L2_MISS) | EVENT(LOAD_L3_HIT) | EVENT(LOAD_SNOOP_NONE),
        [DS_MODEL_SOURCE_SNOOP_MISS] =
            EVENT(LOAD_L1_MISS) | EVENT(LOAD_L2_MISS) | EVENT(LOAD_L3_HIT) | EVENT(LOAD_SNOOP_MISS),
        [DS_MODEL_SOURCE_SNOOP_HIT] =
            EVENT(LOAD_L1_MISS) | EVENT(LOAD_L2_MISS) | EVENT(LOAD_L3_HIT) | EVENT(LOAD_SNOOP_HIT),
        [DS_MODEL_SOURCE_SNOOP_HITM] =
            EVENT(LOAD_L1_MISS) | EVENT(LOAD_L2_MISS) | EVENT(LOAD_L3_HIT) | EVENT(LOAD_SNOOP_HITM),
        [DS_MODEL_SOURCE_MEMORY] = EVENT(LOAD_L1_MISS) | EVENT(LOAD_L2_MISS) | EVENT(LOAD_L3_MISS),
    };
    if (store)
        return QDS_STORES | (a->stlb_miss ? EVENT(STORE_STLB_MISS) : 0);
    return QDS_LOADS | loads[a->source] | (a->stlb_miss ? EVENT(LOAD_STLB_MISS) : 0) |
           (a->locked ? EVENT(LOAD_LOCKED) | EVENT(LOAD_L1_COUNTED) : 0) | (a->split ? EVENT(LOAD_SPLIT) : 0) |
           (a->latency > threshold ? EVENT(LOAD_LATENCY) : 0);
#undef EVENT
}

static void set(struct qds_amounts *a, enum ds_model_event event, uint32_t amount)
{
    a->of[event - DS_MODEL_AMOUNTS] = amount;
}

/* An access that is not as simple as qds_memory_quick() has it. */
static __attribute__((noinline)) void look_up(struct qds_core *k, qemu_plugin_meminfo_t info, uint64_t address,
                                              bool store, bool locked, struct qds_accessed *out)
{
    struct qds_access a;
    qds_memory_access(k, address, 1u << qemu_plugin_mem_size_shift(info), store, locked, walk, &info, &a);
    *out = (struct qds_accessed){.said = a.said};
    set(&out->amounts, DS_MODEL_L1_FILLED, a.l1_filled);
    set(&out->amounts, DS_MODEL_L3_ASKED, a.l3_asked);
    set(&out->amounts, DS_MODEL_L3_MISSED, a.l3_missed);
    set(&out->amounts, store ? DS_MODEL_STORE_WALK : DS_MODEL_LOAD_WALK, a.walks);
    set(&out->amounts, DS_MODEL_CYCLES, a.stall * QDS_UNITS_OF_A_CYCLE);
    set(&out->amounts, DS_MODEL_BACKEND, a.stall * qds_costs_slots());
}

/* Whether it is such a simple access. `size`: at most. */
static inline bool is_quick(struct qds_core *k, uint64_t address, unsigned size, bool store)
{
    return qds_memory_quick(k, address, k->line_mask + 1 - size, store);
}

static __attribute__((noinline)) void pass_slowly(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                                                  bool store, bool locked)
{
    struct qds_core *k = cores[vcpu];
    struct qds_accessed ignored;
    const unsigned size = 1u << qemu_plugin_mem_size_shift(info);
    if (locked || !qds_memory_passes(k, address, k->line_mask + 1 - size, store))
        look_up(k, info, address, store, locked, &ignored);
}

static inline void pass(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, bool store)
{
    struct qds_core *k = cores[vcpu];
    if (!qds_memory_passes(k, address, k->line_mask + 1 - WIDEST, store))
        pass_slowly(vcpu, info, address, store, false);
}

static uint64_t of_hit(const struct qds_vcpu *v, bool store)
{
    return store ? QDS_STORES
                 : QDS_LOADS | DS_BIT(DS_MODEL_LOAD_L1_HIT) | DS_BIT(DS_MODEL_LOAD_L1_COUNTED) |
                       DS_BIT(DS_MODEL_LOAD_L1_L2_HIT) |
                       (hit.latency > v->model.ld_lat ? DS_BIT(DS_MODEL_LOAD_LATENCY) : 0);
}

/* `i` NULL: as for qds_tally_accessed(). */
static __attribute__((noinline)) void tell_slowly(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                                                  bool store, bool locked, const struct qds_block_insn *i)
{
    struct qds_core *k = cores[vcpu];
    struct qds_vcpu *v = qds_vcpu(vcpu);
    struct qds_accessed a = {.said = hit};
    if (locked || !is_quick(k, address, 1u << qemu_plugin_mem_size_shift(info), store))
        look_up(k, info, address, store, locked, &a);
    a.store = store;
    a.address = address;
    a.events = events(&a.said, store, v->model.ld_lat);
    qds_tally_accessed(v, i, &a);
}

static inline void tell(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, bool store,
                        const struct qds_block_insn *i)
{
    struct qds_vcpu *v = qds_vcpu(vcpu);
    if (!i->access.locked && is_quick(cores[vcpu], address, WIDEST, store))
        qds_tally_hits(v, i, store, of_hit(v, store));
    else
        tell_slowly(vcpu, info, address, store, i->access.locked, i);
}

/* ---- callbacks: `userdata` is the instruction -------------------------------------------------------------------- */

#define CALLBACKS(name, store)                                                                                         \
    static void name##_passes(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)             \
    {                                                                                                                  \
        (void)userdata;                                                                                                \
        pass(vcpu, info, address, store);                                                                              \
    }                                                                                                                  \
    static void locked_##name##_passes(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)    \
    {                                                                                                                  \
        (void)userdata;                                                                                                \
        pass_slowly(vcpu, info, address, store, true);                                                                 \
    }                                                                                                                  \
    static void name##_counts(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)             \
    {                                                                                                                  \
        const struct qds_block_insn *i = userdata;                                                                     \
        tell(vcpu, info, address, store, i);                                                                           \
    }                                                                                                                  \
    static void name##_steps(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)              \
    {                                                                                                                  \
        const struct qds_block_insn *i = userdata;                                                                     \
        tell_slowly(vcpu, info, address, store, i->access.locked, NULL);                                               \
    }
CALLBACKS(load, false)
CALLBACKS(store, true)

/* Before the instruction runs. */
static void flushes(unsigned vcpu, void *userdata)
{
    const struct qds_block_insn *i = userdata;
    struct qds_tlb *tlb = &cores[vcpu]->tlb;
    if (i->access.page < 0)
        qds_tlb_flush(tlb);
    else
        qds_tlb_flush_page(tlb, qds_read(qds_vcpu(vcpu), (enum qds_register)i->access.page));
}

void qds_accesses_plant(struct qemu_plugin_insn *to, struct qds_block_insn *i, enum qds_accesses how)
{
    static const qemu_plugin_vcpu_mem_cb_t callbacks[][2] = {
        [QDS_ACCESSES_PASS] = {load_passes, store_passes},
        [QDS_ACCESSES_COUNT] = {load_counts, store_counts},
        [QDS_ACCESSES_STEP] = {load_steps, store_steps},
    };
    static const qemu_plugin_vcpu_mem_cb_t locked[2] = {locked_load_passes, locked_store_passes};
    const qemu_plugin_vcpu_mem_cb_t *cb = how == QDS_ACCESSES_PASS && i->access.locked ? locked : callbacks[how];
    if (i->access.flushes)
        qemu_plugin_register_vcpu_insn_exec_cb(to, flushes, QEMU_PLUGIN_CB_R_REGS, i);
    qemu_plugin_register_vcpu_mem_cb(to, cb[0], QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_R, i);
    qemu_plugin_register_vcpu_mem_cb(to, cb[1], QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W, i);
}

void qds_accesses_reset(unsigned vcpu)
{
    if (cores[vcpu])
        qds_tlb_flush(&cores[vcpu]->tlb);
}

void qds_accesses_cpuid(unsigned vcpu, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    qds_memory_cpuid(&config, vcpu >= config.caches.efficient, vcpus, leaf, subleaf, out);
}

void qds_accesses_print(unsigned vcpu)
{
    const struct qds_core *k = cores[vcpu];
    const struct qds_memory_totals *t = &k->totals;
    fprintf(stderr,
            "qemu-ds: vCPU %u: modelled, not measured: %" PRIu64 " lines accessed, %" PRIu64 " not in the L1, %" PRIu64
            " asked of the L3, %" PRIu64 " not there, %" PRIu64 " changed by another core, %" PRIu64
            " page walks, %" PRIu64 " cycles waited\n",
            vcpu, qds_memory_lines(k), t->l1_filled, t->l3_asked, t->l3_missed, t->hitm, t->walks, t->stall);
}
