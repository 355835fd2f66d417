/* SPDX-License-Identifier: MIT */
/*
 * The monitor's editor and the commands that need no kernel: the input is what a terminal sends, or behind a byte 0
 * scan codes of a keyboard up to the next 0. Whatever comes, what is shown is text and control sequences that end, the
 * line is what it says, and no line of an answer is longer than a terminal is wide.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/monitor/inside.h"
#include "kernel/monitor/keys.h"
#include "kernel/monitor/line.h"
#include "tests/unit/support/monitor_machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct kmonitor_command *const groups[] = {kmonitor_general, kmonitor_registers, kmonitor_areas,
                                                        kmonitor_records, NULL};
static struct kmonitor monitor;
static struct kmonitor_line line;

static void put(void *context, const char *text, size_t size)
{
    (void)context;
    for (size_t i = 0; i < size; i++)
        if ((text[i] < ' ' || text[i] > '~') && !strchr("\r\n\a\x1b", text[i]))
            abort();
}

/* What was said since the last call is text, of at most 80 columns. */
static void believe_answer(void)
{
    for (const char *at = monitor_said; *at;) {
        const size_t n = strcspn(at, "\n");
        if (n > 80)
            abort();
        for (size_t i = 0; i < n; i++)
            if (at[i] < ' ' || at[i] > '~')
                abort();
        at += n + (at[n] != '\0');
    }
}

static void take(char c)
{
    char text[KMONITOR_LINE + 1];
    const bool complete = kmonitor_line_key(&line, c);
    if (line.size > KMONITOR_LINE || line.at > line.size || strlen(line.text) != line.size)
        abort();
    if (!complete)
        return;
    memcpy(text, line.text, sizeof(text));
    monitor_machine_forget();
    kmonitor_run(&monitor, text);
    believe_answer();
    kmonitor_line_begin(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kmonitor_keys keys = {.shift = false};
    bool keyboard = false;
    monitor_machine_reset();
    monitor = (struct kmonitor){.machine = &monitor_machine, .groups = groups};
    line = (struct kmonitor_line){.put = put, .choice = kmonitor_choice, .context = &monitor, .prompt = "cairn> "};
    kmonitor_line_begin(&line);
    for (size_t i = 0; i < size; i++)
        if (data[i] == 0)
            keyboard = !keyboard;
        else if (keyboard)
            for (const char *text = kmonitor_keys_code(&keys, data[i]); *text; text++)
                take(*text);
        else
            take((char)data[i]);
    return 0;
}
