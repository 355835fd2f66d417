/* SPDX-License-Identifier: MIT */
/* The one machine that the page, or the native program, looks at. */
#include "tools/playground/playground.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tools/playground/catalog.h"
#include "tools/playground/steps.h"

#define ERROR_TEXT   240u
#define LAYOUT_TEXT  4096u
#define CATALOG_TEXT 16384u

static struct play_machine machine;
static struct play_state state;
static struct play_settings read_settings; /* until they are known to be good */
static char input[PLAY_TEXT], error[ERROR_TEXT];

char *play_input(void)
{
    return input;
}

uint32_t play_input_size(void)
{
    return sizeof input;
}

const char *play_error(void)
{
    return error;
}

static void show(void)
{
    play_state_fill(&state, &machine);
}

void play_to(uint32_t step)
{
    if (step < machine.step)
        play_steps_begin(&machine, &machine.settings);
    while (machine.step < step && play_steps_next(&machine))
        ;
    show();
}

int play_open(void)
{
    error[0] = '\0';
    if (input[PLAY_TEXT - 1]) {
        snprintf(error, sizeof error, "the settings are longer than %u characters", PLAY_TEXT - 1);
        return -EINVAL;
    }
    int e = play_settings_read(&read_settings, input, error, sizeof error);
    if (e)
        return e;
    play_steps_begin(&machine, &read_settings);
    play_to(read_settings.step);
    return 0;
}

bool play_run(uint32_t marks)
{
    const uint32_t from = machine.step;
    while (play_steps_next(&machine))
        if (machine.marks[machine.step] & marks) {
            show();
            return true;
        }
    play_to(from);
    return false;
}

const struct play_state *play_state(void)
{
    return &state;
}

uint64_t play_digest(void)
{
    const uint32_t last = machine.step;
    uint64_t digest = 0;
    play_steps_begin(&machine, &machine.settings);
    for (;;) {
        show();
        digest = play_state_digest(&state, digest);
        if (machine.step == last || !play_steps_next(&machine))
            return digest;
    }
}

const char *play_layout(void)
{
    static char text[LAYOUT_TEXT];
    return play_state_layout(text, sizeof text) < sizeof text ? text : "";
}

const char *play_catalog(void)
{
    static char text[CATALOG_TEXT];
    return play_catalog_write(text, sizeof text) < sizeof text ? text : "";
}
