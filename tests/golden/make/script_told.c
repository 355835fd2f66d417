/* SPDX-License-Identifier: MIT */
/* What the kernel of the scripted machine tells beside its switches: who is there when the session starts and stops,
 * who comes and goes, and interrupts and samples between the switches. CPU 0 tells; the others interrupt it. */
#include "tests/golden/make/script.h"

#include "trace/rundown/rundown.h"
#include "trace/wire/activity.h"

#define TELLER 4u    /* process, and thread, that starts and stops the session */
#define GUEST  4000u /* a thread that comes and goes: the names stream no longer knows it */
#define APART  600u  /* TSC between two events of the rundown */
#define TICK   UINT64_C(0xFFFFFFFF800013C0)
#define KERNEL UINT64_C(0xFFFFFFFF80000000)

static void put(struct script *s, uint64_t *tsc, uint32_t group, const struct trace_system *system, uint16_t hook,
                uint8_t version, const struct etw_payload *p)
{
    struct trace_hub_cpu *hub = s->cpu[0].trace;
    const struct trace_part part = {p->bytes, p->size};
    trace_hub_event_to(hub, *tsc, trace_hub_sessions(hub, group), system, hook, version, &part, p->size != 0);
    *tsc += APART;
}

static const struct trace_system teller = {.thread_id = TELLER, .process_id = TELLER};

static void put_masks(struct script *s, uint64_t *tsc, uint16_t hook, const struct perfinfo_groupmask *masks)
{
    struct etw_payload p;
    trace_rundown_masks(&p, masks->masks);
    put(s, tsc, 0, NULL, hook, HOOK_VERSION_HEADER, &p);
}

static void put_process(struct script *s, uint64_t *tsc, uint16_t hook, uint32_t pid, const char *name)
{
    const struct etw_process process = {
        .process_id = pid, .session_id = ETW_NO_SESSION, .exit_status = pid ? ETW_STILL_RUNNING : 0};
    struct etw_payload p;
    trace_rundown_process(&p, &process, name);
    put(s, tsc, PERF_PROCESS, NULL, hook, HOOK_VERSION_PROCESS, &p);
}

static void put_thread(struct script *s, uint64_t *tsc, uint16_t hook, uint32_t pid, uint32_t tid, int8_t base,
                       const char *name)
{
    const struct trace_system header = {.thread_id = tid, .process_id = pid};
    const struct etw_thread thread = {.process_id = pid, .thread_id = tid, .affinity = 3, .base_priority = base};
    struct etw_payload p;
    trace_rundown_thread(&p, &thread, name);
    put(s, tsc, PERF_THREAD, &header, hook, HOOK_VERSION_THREAD, &p);
}

static void put_all(struct script *s, uint64_t *tsc, bool start)
{
    const struct etw_image image = {.image_base = KERNEL, .image_size = 131072, .default_base = KERNEL};
    const uint16_t process = start ? HOOK_PROCESS_DC_START : HOOK_PROCESS_DC_END;
    const uint16_t thread = start ? HOOK_THREAD_DC_START : HOOK_THREAD_DC_END;
    struct etw_payload p;
    put_process(s, tsc, process, 0, "Idle");
    for (uint32_t c = 0; c < s->options.cpus; c++) {
        char name[] = {'i', 'd', 'l', 'e', '/', (char)('0' + c), 0};
        put_thread(s, tsc, thread, 0, 0, 0, name);
    }
    put_process(s, tsc, process, TELLER, "Cairn");
    for (uint32_t i = 1; i <= s->options.threads; i++)
        put_thread(s, tsc, thread, TELLER, s->thread[i].tid, s->thread[i].base, s->thread[i].name);
    trace_rundown_image(&p, &image, "kernel.elf");
    put(s, tsc, PERF_LOADER, &teller, start ? HOOK_IMAGE_DC_START : HOOK_IMAGE_DC_END, HOOK_VERSION_IMAGE, &p);
}

void script_told_start(struct script *s, uint64_t tsc)
{
    const struct etw_payload none = {0};
    put_masks(s, &tsc, HOOK_HEADER_EXTENSION, &trace_session_config(s->sessions[0])->masks);
    put_all(s, &tsc, true);
    put(s, &tsc, 0, NULL, HOOK_RUNDOWN_COMPLETE, HOOK_VERSION_HEADER, &none);
}

void script_told_guest(struct script *s, uint64_t tsc)
{
    struct etw_payload p;
    put_thread(s, &tsc, HOOK_THREAD_START, TELLER, GUEST, 9, NULL);
    trace_rundown_thread_name(&p, TELLER, GUEST, "guest");
    put(s, &tsc, PERF_THREAD, NULL, HOOK_THREAD_SET_NAME, HOOK_VERSION_THREAD_NAME, &p);
    put_thread(s, &tsc, HOOK_THREAD_END, TELLER, GUEST, 9, NULL);
}

void script_told_stop(struct script *s, uint64_t tsc)
{
    const struct perfinfo_groupmask nothing = {{0}};
    const struct etw_payload none = {0};
    put_masks(s, &tsc, HOOK_GROUP_MASKS_END, &trace_session_config(s->sessions[0])->masks);
    put_all(s, &tsc, false);
    put_masks(s, &tsc, HOOK_HEADER_EXTENSION, &nothing);
    put(s, &tsc, 0, NULL, HOOK_RUNDOWN_COMPLETE, HOOK_VERSION_HEADER, &none);
}

/* A tick of CPU `c` that ends at `tsc`: now and then it takes a sample. */
void script_told_tick(struct script *s, uint32_t c, uint64_t tsc)
{
    struct script_cpu *cpu = &s->cpu[c];
    const struct script_thread *t = &s->thread[cpu->current];
    const struct trace_clock *clock = &trace_session_config(s->sessions[0])->clock;
    struct cairn_truth_interrupt truth = {
        .kind = CAIRN_TRUTH_INTERRUPT, .cpu = (uint8_t)c, .tid = t->tid, .priority = t->priority};
    if (script_below(s, 3) == 0) {
        const struct perfinfo_sampled_profile sample = {
            .instruction_pointer = TICK + 0x40 + 4 * script_below(s, 16),
            .thread_id = t->tid,
            .count = 1,
            .flags = (uint8_t)((unsigned)t->priority << PERFINFO_PROFILE_PRIORITY_SHIFT),
        };
        const struct trace_part part = {&sample, sizeof(sample)};
        trace_hub_event(cpu->trace, tsc - 400, PERF_PROFILE, HOOK_SAMPLED_PROFILE, HOOK_VERSION_SAMPLED_PROFILE, &part,
                        1);
        truth.what = CAIRN_INTERRUPT_PROFILE;
        truth.tsc = tsc - 400;
        truth.address = sample.instruction_pointer;
        if (s->options.truth)
            script_add_truth(cpu)->interrupt = truth;
    }
    const struct perfinfo_interrupt handled = {
        .initial_time = (uint64_t)trace_clock_units(clock, tsc - 900),
        .service_routine = TICK,
        .return_value = 1,
        .vector = 0xE0,
    };
    const struct trace_part part = {&handled, sizeof(handled)};
    trace_hub_event(cpu->trace, tsc, PERF_INTERRUPT, HOOK_INTERRUPT, HOOK_VERSION_INTERRUPT, &part, 1);
    truth.what = CAIRN_INTERRUPT_HANDLED;
    truth.begin = tsc - 900;
    truth.tsc = tsc;
    truth.address = TICK;
    truth.vector = handled.vector;
    if (s->options.truth)
        script_add_truth(cpu)->interrupt = truth;
}
