/* SPDX-License-Identifier: MIT */
/* The sentences: one function for each group of actions. Numbers that end in H are hexadecimal. */
#include "tools/playground/why.h"

#include "ds/lbr_layout.h"
#include "kernel/lib/string.h"

typedef unsigned long long ull;

struct said {
    const struct play_machine *machine;
    char *text; /* the sentence that is being written */
    size_t used;
};

static void add(struct said *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct said *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (s->used < PLAY_SENTENCE)
        s->used += (size_t)vsnprintf(s->text + s->used, PLAY_SENTENCE - s->used, format, args);
    if (s->used >= PLAY_SENTENCE) /* names of more counters than anybody reads: it shows that it is cut */
        memcpy(s->text + PLAY_SENTENCE - sizeof "...", "...", sizeof "...");
    va_end(args);
}

/* "IA32_PMC0 and IA32_PMC1" */
static void add_counters(struct said *s, uint64_t set)
{
    for (bool first = true; set; set &= set - 1, first = false)
        add(s, "%s%s",
            first             ? ""
            : set & (set - 1) ? ", "
                              : " and ",
            play_counter_name((unsigned)__builtin_ctzll(set)));
}

static bool several(uint64_t set)
{
    return set & (set - 1);
}

/* "IA32_PERFEVTSEL0"; of the MSRs that the set-up writes. */
static void msr_name(uint32_t msr, char *text, size_t size)
{
    static const struct {
        uint32_t msr;
        const char *name;
    } names[] = {
        {IA32_FIXED_CTR_CTRL, "IA32_FIXED_CTR_CTRL"},
        {IA32_PERF_GLOBAL_CTRL, "IA32_PERF_GLOBAL_CTRL"},
        {IA32_PEBS_ENABLE, "IA32_PEBS_ENABLE"},
        {MSR_PEBS_DATA_CFG, "MSR_PEBS_DATA_CFG"},
        {IA32_DS_AREA, "IA32_DS_AREA"},
        {IA32_PEBS_BASE, "IA32_PEBS_BASE"},
        {IA32_PEBS_INDEX, "IA32_PEBS_INDEX"},
        {IA32_DEBUGCTL, "IA32_DEBUGCTL"},
        {IA32_LBR_CTL, "IA32_LBR_CTL"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].msr == msr) {
            snprintf(text, size, "%s", names[i].name);
            return;
        }
    if (msr - IA32_PERFEVTSEL0 < DS_MODEL_GP_MAX)
        snprintf(text, size, "IA32_PERFEVTSEL%u", (unsigned)(msr - IA32_PERFEVTSEL0));
    else if (msr - IA32_PMC0 < DS_MODEL_GP_MAX)
        snprintf(text, size, "IA32_PMC%u", (unsigned)(msr - IA32_PMC0));
    else if (msr >= IA32_PMC_FX0_CTR)
        snprintf(text, size, "IA32_PMC_FX%u_CFG_C", (unsigned)((msr - IA32_PMC_FX0_CFG_C) / IA32_PMC_STEP));
    else if (msr >= IA32_PMC_GP0_CTR)
        snprintf(text, size, "IA32_PMC_GP%u_CFG_C", (unsigned)((msr - IA32_PMC_GP0_CFG_C) / IA32_PMC_STEP));
    else
        snprintf(text, size, "IA32_FIXED_CTR%u", (unsigned)(msr - IA32_FIXED_CTR0));
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

/* Of one counter, how far it is from its overflow. */
static void distance(struct said *s, unsigned c)
{
    const struct ds_model *m = &s->machine->model;
    const uint64_t left = (0 - m->value[c]) & m->counter_mask;
    if (left && left < 1000000)
        add(s, ": %llu more %s to its overflow", (ull)left, left == 1 ? "event" : "events");
}

static bool has(const struct play_machine *m, uint8_t kind)
{
    for (uint32_t i = 0; i < m->actions; i++)
        if (m->action[i].kind == kind)
            return true;
    return false;
}

static void counted(struct said *s, uint64_t counters)
{
    const struct play_machine *m = s->machine;
    if (!counters && m->model.global_status & IA32_PERF_GLOBAL_STATUS_CTR_FRZ) {
        add(s, "The counters are frozen: GLOBAL_STATUS[59] (CTR_FRZ) is set.");
    } else if (!counters && !m->model.global_ctrl) {
        add(s, "No counter counts: IA32_PERF_GLOBAL_CTRL is 0.");
    } else if (!counters) {
        add(s, "No counter counts it.");
    } else {
        add_counters(s, counters);
        add(s, several(counters) ? " count it" : " counts it");
        if (!several(counters) && !has(m, DS_MODEL_OVERFLOWED) && !has(m, DS_MODEL_STORED) && !has(m, DS_MODEL_DROPPED))
            distance(s, (unsigned)__builtin_ctzll(counters));
        add(s, ".");
    }
}

static void instruction(struct said *s, const struct ds_model_action *a)
{
    const struct play_machine *m = s->machine;
    char text[32];
    if (a->kind == PLAY_RETURNED) {
        add(s, "Handler, last step: IRETQ returns to %llXH. ", (ull)a->after);
    } else {
        const uint64_t ip = play_program_address(&m->settings.program, (uint32_t)a->before);
        play_program_show(&m->settings.program, (uint32_t)a->before, text, sizeof text);
        add(s, "%s at %llXH retires. ", text, (ull)ip);
    }
    counted(s, a->counters);
}

/* ---- the model ----------------------------------------------------------------------------------------------------
 */

static bool arch(const struct said *s)
{
    return play_arch(s->machine->settings.preset);
}

static void overflow(struct said *s, const struct ds_model_action *a)
{
    const struct play_machine *m = s->machine;
    const char *name = play_counter_name(a->counter);
    const uint64_t bit = DS_BIT(a->counter);
    if (a->kind == DS_MODEL_OVERFLOWED) {
        if (a->after)
            add(s, "%s overflows: it counts several at once and is now %u.", name, (unsigned)a->after);
        else
            add(s, "%s overflows: it was all ones and is now 0.", name);
        if (arch(s) && m->model.pebs & bit && m->model.policy.arch_overflow == DS_MODEL_ARCH_NEVER)
            add(s, " GLOBAL_STATUS stays as it is (policy arch_overflow=never).");
        else
            add(s, " The processor sets IA32_PERF_GLOBAL_STATUS[%u].", a->counter);
        if (!(m->model.pebs & bit))
            add(s, " %s: %s",
                m->model.unlisted & bit && !(play_plain(m) & bit) ? "PEBS does not record its event on this counter"
                                                                  : "The counter has no PEBS",
                m->model.interrupting & bit ? "the overflow interrupts." : "nothing else happens.");
    } else if (m->model.pdist & DS_BIT(a->counter)) {
        add(s, "%s has precise distribution: the event that made it overflow is recorded itself.", name);
    } else {
        add(s, "PEBS is enabled for %s, so the overflow arms it: the next event that it counts writes a record.", name);
    }
}

static void stored(struct said *s, const struct ds_model_action *a)
{
    const struct play_machine *m = s->machine;
    if (a->kind == DS_MODEL_DROPPED) {
        add(s, "The record of ");
        add_counters(s, a->counters);
        if (arch(s)) {
            add(s, " finds no room, so the processor drops it and sets FULL in IA32_PEBS_INDEX: no record is stored "
                   "until software clears that.");
            return;
        }
        add(s, " does not fit below PebsAbsoluteMaximum, so the processor drops it. PebsIndex stays, and no bit tells "
               "software.");
        return;
    }
    add(s, "The processor writes a record of %llu bytes for ", (ull)(a->after - a->before));
    add_counters(s, a->counters);
    if (arch(s))
        add(s, " at the base + %llXH, and the position in IA32_PEBS_INDEX is %llXH.", (ull)a->before, (ull)a->after);
    else
        add(s, " at %llXH and moves PebsIndex to %llXH.", (ull)a->before, (ull)a->after);
    if (m->in_handler && !has(m, PLAY_RETURNED))
        add(s, " It comes late, after the counters were turned off (policy residual).");
    else if (several(a->counters))
        add(s, " The record is for all of them.");
}

/* Whether the record of this step was for another counter. */
static bool bystander(const struct play_machine *m, unsigned counter)
{
    for (uint32_t i = 0; i < m->actions; i++)
        if (m->action[i].kind == DS_MODEL_STORED || m->action[i].kind == DS_MODEL_DROPPED)
            return !(m->action[i].counters & DS_BIT(counter));
    return false;
}

static void reloaded(struct said *s, const struct ds_model_action *a)
{
    const struct play_machine *m = s->machine;
    const char *name = play_counter_name(a->counter);
    const ull period = (ull)((0 - a->after) & m->model.counter_mask);
    if (bystander(m, a->counter))
        add(s,
            "%s is a bystander: it was armed, and the processor reloads it with -%llu, too. No record will show its "
            "sample.",
            name, period);
    else if (arch(s))
        add(s, "The processor reloads %s with -%llu, from its own %s%u_CFG_C%s.", name, period,
            a->counter < DS_COUNTER_FIXED ? "IA32_PMC_GP" : "IA32_PMC_FX", a->counter % DS_COUNTER_FIXED,
            m->model.policy.arch_overflow == DS_MODEL_ARCH_CLEARED ? ", and clears its bit of GLOBAL_STATUS" : "");
    else
        add(s,
            "The processor reloads %s from its slot in the DS area, with -%llu, and clears "
            "IA32_PERF_GLOBAL_STATUS[%u].",
            name, period, a->counter);
}

/* Whether the threshold is said to be reached or passed is a policy. The status is that after the whole step. */
static void compared_arch(struct said *s, const struct ds_model_action *a)
{
    const bool gt = s->machine->model.policy.arch_threshold_gt;
    if (gt ? a->before <= a->after : a->before < a->after)
        add(s, "The position is below the threshold, %llXH, so there is no PMI%s.", (ull)a->after,
            a->before == a->after ? ": it would have to pass it (policy arch_threshold=gt)" : "");
    else if (!has(s->machine, DS_MODEL_PMI_RAISED) && !has(s->machine, DS_MODEL_PMI_LATCHED) &&
             !has(s->machine, DS_MODEL_PMI_LOST))
        add(s, "The position is beyond the threshold, but IA32_PERF_GLOBAL_STATUS[54] is set already: no other PMI.");
    else
        add(s, "The position has %s the threshold: the processor sets IA32_PERF_GLOBAL_STATUS[54], and a PMI is due.",
            gt ? "passed" : "reached");
}

static void compared(struct said *s, const struct ds_model_action *a)
{
    if (arch(s)) {
        compared_arch(s, a);
        return;
    }
    if (a->before >= a->after)
        add(s, "PebsIndex has reached PebsInterruptThreshold: the processor sets IA32_PERF_GLOBAL_STATUS[62] (OvfBuf), "
               "and a PMI is due.");
    else
        add(s, "PebsIndex is below PebsInterruptThreshold, so there is no PMI.");
}

static void interrupt(struct said *s, const struct ds_model_action *a)
{
    if (a->kind == DS_MODEL_PMI_RAISED)
        add(s, "LVTPC is not masked, so it raises the PMI with vector %llXH and masks itself.",
            (ull)(a->before & LVTPC_VECTOR));
    else if (a->kind == DS_MODEL_PMI_LATCHED)
        add(s, "LVTPC is masked: the PMI waits until software unmasks it (policy masked_pmi=latched).");
    else
        add(s, "LVTPC is masked: this PMI is lost (policy masked_pmi=lost).");
}

/* ---- branches, memory ---------------------------------------------------------------------------------------------
 */

static void branch(struct said *s, const struct ds_model_action *a)
{
    if (a->kind == PLAY_BRANCH_STORED)
        add(s, "The branch is taken, so BTS writes a record of 24 bytes. BtsIndex moves to %llXH.", (ull)a->after);
    else if (a->kind == PLAY_BRANCH_WRAPPED)
        add(s, "The branch is taken, so BTS writes a record, the last that fits. BtsIndex wraps to BtsBufferBase: the "
               "next record overwrites the oldest.");
    else
        add(s, "The branch is taken, but the BTS buffer is full and DEBUGCTL.BTINT is set: BTS writes no record.");
}

static void missing(struct said *s, const struct ds_model_action *a)
{
    add(s, "The record's memory at %llXH is not mapped: ", (ull)a->after);
    if (a->before)
        add(s, "a page fault. The counter stays armed, and its next event tries again (policy unmapped=page_fault).");
    else
        add(s, "the record is lost, and the counter goes on without a reload (policy unmapped=error).");
}

/* ---- the handler --------------------------------------------------------------------------------------------------
 */

static void status_bits(struct said *s, uint64_t status)
{
    const uint64_t counters = status & ((DS_BIT(DS_MODEL_GP_MAX) - 1) | UINT64_C(0xF) << DS_COUNTER_FIXED);
    add_counters(s, counters);
    if (status & IA32_PERF_GLOBAL_STATUS_LBR_FRZ)
        add(s, "%sLBR_FRZ", counters ? ", " : "");
    if (status & IA32_PERF_GLOBAL_STATUS_CTR_FRZ)
        add(s, "%sCTR_FRZ", counters || status & IA32_PERF_GLOBAL_STATUS_LBR_FRZ ? ", " : "");
    if (status & IA32_PERF_GLOBAL_STATUS_OVF_BUF)
        add(s, "%sOvfBuf", status & ~(IA32_PERF_GLOBAL_STATUS_OVF_BUF | IA32_PERF_GLOBAL_STATUS_ARCH_PEBS) ? ", " : "");
    if (status & IA32_PERF_GLOBAL_STATUS_ARCH_PEBS)
        add(s, "%sbit 54", status & ~IA32_PERF_GLOBAL_STATUS_ARCH_PEBS ? ", " : "");
    if (!status)
        add(s, "nothing");
}

static void handler(struct said *s, const struct ds_model_action *a)
{
    switch (a->kind) {
    case PLAY_PMI_TAKEN:
        add(s, "The processor takes the PMI: before the instruction at %llXH it enters the handler at CPL 0.",
            (ull)a->before);
        break;
    case PLAY_STOPPED:
        add(s, "Handler: WRMSR IA32_PERF_GLOBAL_CTRL, 0. All counters stop, so the handler does not record itself.");
        break;
    case PLAY_ACKNOWLEDGED:
        add(s, "Handler: RDMSR IA32_PERF_GLOBAL_STATUS shows ");
        status_bits(s, a->before);
        add(s, ". WRMSR IA32_PERF_GLOBAL_OVF_CTRL clears ");
        status_bits(s, a->counters);
        add(s, a->after ? "; bits of PEBS counters are the processor's." : ".");
        break;
    case PLAY_DRAINED:
        if (arch(s)) {
            add(s,
                "Handler: it copies %llu %s out of the buffer. WRMSR IA32_PEBS_INDEX, %llXH: position 0, not full, "
                "on. A drain.",
                (ull)a->counters, a->counters == 1 ? "record" : "records", (ull)a->after);
            break;
        }
        add(s, "Handler: it copies %llu %s out of the buffer and sets PebsIndex back to PebsBufferBase: a drain.",
            (ull)a->counters, a->counters == 1 ? "record" : "records");
        break;
    case PLAY_NOT_DRAINED:
        add(s, "Handler: %s was not set, so it leaves the PEBS buffer alone.", arch(s) ? "bit 54" : "OvfBuf");
        break;
    case PLAY_BRANCHES_TAKEN:
        add(s, "Handler: BtsIndex is at its threshold: it copies %llu branch records and sets BtsIndex to the base.",
            (ull)a->counters);
        break;
    case PLAY_RESTARTED:
        add(s, "Handler: WRMSR %s, -%llu: a counter without PEBS is software's to reload.",
            play_counter_name(a->counter), (ull)((0 - a->after) & s->machine->model.counter_mask));
        break;
    case PLAY_LVTPC_WRITTEN:
        add(s, "Handler: it writes LVTPC, which had masked itself: the next PMI can come.");
        break;
    case PLAY_LVTPC_FORGOTTEN:
        add(s, "Handler: it forgets to write LVTPC, which stays masked: no other PMI can come.");
        break;
    default:
        add(s, "Handler: WRMSR IA32_PERF_GLOBAL_CTRL, %llXH: the counters count again.", (ull)a->after);
        break;
    }
}

/* ---- set-up -------------------------------------------------------------------------------------------------------
 */

static void set_up(struct said *s, const struct ds_model_action *a)
{
    char name[32];
    if (a->kind == PLAY_NOT_RECORDED) {
        add(s, "PEBS does not record this event on %s: it counts and overflows without records (policy unlisted).",
            play_counter_name(a->counter));
        return;
    }
    msr_name((uint32_t)a->counters, name, sizeof name);
    add(s, "WRMSR %s, %llXH", name, (ull)a->after);
    if (a->before)
        add(s,
            " raises #GP: it has bits that this processor does not. The MSR stays as it was (policy reserved=fault).");
}

/* ---- all of it -----------------------------------------------------------------------------------------------------
 */

static void one(struct said *s, const struct ds_model_action *a)
{
    switch (a->kind) {
    case DS_MODEL_OVERFLOWED:
    case DS_MODEL_ARMED:
        overflow(s, a);
        break;
    case DS_MODEL_STORED:
    case DS_MODEL_DROPPED:
        stored(s, a);
        break;
    case DS_MODEL_RELOADED:
        reloaded(s, a);
        break;
    case DS_MODEL_COMPARED:
        compared(s, a);
        break;
    case DS_MODEL_PMI_RAISED:
    case DS_MODEL_PMI_LATCHED:
    case DS_MODEL_PMI_LOST:
        interrupt(s, a);
        break;
    case PLAY_WROTE:
    case PLAY_NOT_RECORDED:
        set_up(s, a);
        break;
    case PLAY_RETIRED:
    case PLAY_RETURNED:
        instruction(s, a);
        break;
    case PLAY_PMI_WAITS:
        add(s, "The PMI is on its way. The processor takes it %llu %s later (setting delay).", (ull)a->after,
            a->after == 1 ? "instruction" : "instructions");
        break;
    case PLAY_BRANCH_STORED:
    case PLAY_BRANCH_WRAPPED:
    case PLAY_BRANCH_DROPPED:
        branch(s, a);
        break;
    case PLAY_MEMORY_MISSING:
        missing(s, a);
        break;
    default:
        handler(s, a);
        break;
    }
}

uint32_t play_why(const struct play_machine *m, char said[PLAY_SENTENCES][PLAY_SENTENCE])
{
    uint32_t n = 0;
    memset(said, 0, PLAY_SENTENCES * PLAY_SENTENCE);
    if (m->step == 0) {
        struct said s = {m, said[n++], 0};
        add(&s, "The driver has written these MSRs%s%s. The program has not begun.",
            play_arch(m->settings.preset) && !m->settings.bts ? "" : " and the DS area",
            m->set_up ? "; one of them needs a look" : "");
    }
    for (uint32_t i = 0; i < m->actions && n < PLAY_SENTENCES; i++) {
        struct said s = {m, said[n++], 0};
        one(&s, &m->action[i]);
    }
    return n;
}
