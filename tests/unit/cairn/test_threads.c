/* SPDX-License-Identifier: MIT */
/* However many threads decode the CPUs' streams, commands say the same of a log. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/support/cmocka.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/command/command.h"

static const char *const logs[] = {"tests/golden/small.log", "tests/golden/told.log", "tests/golden/sessions.log",
                                   "tests/golden/locks.log", "samples/damaged.log"};
static const struct cairn_command *const commands[] = {&cairn_dump_command, &cairn_stat_command, &cairn_check_command,
                                                       &cairn_info_command, &cairn_profile_command};

/* What all commands print of every session of the log, for the caller to free. */
static char *told(const char *path, uint32_t threads)
{
    static struct cairn_log log;
    struct cairn_input input;
    const struct cairn_choice choice = {.threads = threads};
    char refusal[CAIRN_REFUSAL], *text = NULL;
    size_t size = 0;
    FILE *out = stdout;
    assert_int_equal(cairn_input_open(&input, path), 0);
    assert_int_equal(cairn_log_read(&log, &input, &choice, refusal), 0);
    assert_true(log.cpus >= 2);
    stdout = open_memstream(&text, &size);
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++) {
        if (!(log.sessions >> (number - 1) & 1))
            continue;
        cairn_log_select(&log, number);
        for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
            commands[i]->show(&log);
    }
    fclose(stdout);
    stdout = out;
    assert_int_equal(log.input.error, 0);
    cairn_log_free(&log);
    cairn_input_close(&input);
    return text;
}

static void any_number_of_threads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
        char *one = told(logs[i], 1), *many = told(logs[i], MAX_CPUS);
        assert_true(strlen(one) > 1000);
        assert_string_equal(one, many);
        free(one);
        free(many);
    }
}

static pthread_barrier_t together;

static void *want_memory(void *context)
{
    (void)context;
    pthread_barrier_wait(&together);
    cairn_out_of_memory();
}

/* All threads find none at once: one of them says so and ends the program. */
static void out_of_memory_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 50; i++) {
        int out[2], status;
        char text[1000];
        size_t size = 0;
        assert_int_equal(pipe(out), 0);
        const pid_t child = fork();
        if (!child) {
            pthread_t thread;
            dup2(out[1], STDERR_FILENO);
            cairn_memory_for("stat", "a.log", ": what to do");
            pthread_barrier_init(&together, NULL, 8);
            for (unsigned t = 1; t < 8; t++)
                if (pthread_create(&thread, NULL, want_memory, NULL))
                    _exit(100);
            want_memory(NULL);
        }
        close(out[1]);
        for (ssize_t got; (got = read(out[0], text + size, sizeof(text) - 1 - size)) > 0;)
            size += (size_t)got;
        close(out[0]);
        text[size] = '\0';
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 3);
        assert_string_equal(text, "cairn stat: a.log: out of memory: what to do\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_number_of_threads), cmocka_unit_test(out_of_memory_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
