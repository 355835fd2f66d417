/* SPDX-License-Identifier: MIT */
#include "tools/playground/steps.h"

#include "kernel/lib/string.h"
#include "tools/playground/handler.h"
#include "tools/playground/set_up.h"

static void execute(struct play_machine *m)
{
    struct play_executed done;
    uint64_t before[DS_COUNTER_NUMBERS];
    memcpy(before, m->model.value, sizeof before);
    play_cpu_execute(&m->cpu, &m->settings.program, &done);
    play_act(m, PLAY_RETIRED, 0, done.at, 0);
    play_retire(m, &done.retired, done.retired.branch);
    m->action[0].counters = play_moved(m, before);
    if (m->pmi_due && m->pmi_delay)
        play_act(m, PLAY_PMI_WAITS, 0, 0, m->pmi_delay);
}

bool play_steps_next(struct play_machine *m)
{
    if (m->step + 1 >= PLAY_STEPS)
        return false;
    m->step++;
    m->actions = 0;
    if (m->in_handler) {
        play_handler_step(m);
    } else if (m->pmi_due && !m->pmi_delay) {
        play_handler_enter(m);
    } else {
        if (m->pmi_due)
            m->pmi_delay--;
        execute(m);
    }
    return true;
}

void play_steps_begin(struct play_machine *m, const struct play_settings *settings)
{
    play_machine_begin(m, settings);
    play_set_up(m);
}
