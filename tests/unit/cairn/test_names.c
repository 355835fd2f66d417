/* SPDX-License-Identifier: MIT */
/* Windows' names of numbers, and what Linux calls a state. */
#include <string.h>

#include "tests/unit/support/cmocka.h"
#include "tools/cairn/base/names.h"
#include "trace/wire/format.h"

static void test_states_and_reasons_by_number(void **state)
{
    (void)state;
    unsigned words = 0;
    while (cairn_switch_words[words])
        words++;
    assert_string_equal(cairn_state_name(KTHREAD_WAITING), "Waiting");
    assert_string_equal(cairn_state_name(KTHREAD_WAITING_FOR_PROCESS_IN_SWAP), "WaitingForProcessInSwap");
    assert_string_equal(cairn_state_name(KTHREAD_STATES), "?");
    assert_string_equal(cairn_reason_name(0), "Executive");
    assert_string_equal(cairn_reason_name(4), "DelayExecution");
    assert_string_equal(cairn_reason_name(29), "WrMutex");
    assert_string_equal(cairn_reason_name((uint8_t)(words - KTHREAD_STATES - 1)), "WrRcu");
    assert_string_equal(cairn_reason_name((uint8_t)(words - KTHREAD_STATES)), "?");
    assert_string_equal(cairn_reason_name(CAIRN_REASON_UNKNOWN), "unknown");
    assert_string_equal(cairn_reason_name(CAIRN_REASON_UNKNOWN - 1), "?");
}

static void test_a_state_is_linux_like(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned is;
    } all[KTHREAD_STATES] = {
        {"Initialized", 0}, {"Ready", 0},      {"Running", 0},       {"Standby", 0},  {"Terminated", 16},
        {"Waiting", 1},     {"Transition", 2}, {"DeferredReady", 0}, {"GateWait", 1}, {"WaitingForProcessInSwap", 2},
    };
    for (uint8_t i = 0; i < KTHREAD_STATES; i++) {
        assert_string_equal(cairn_state_name(i), all[i].name);
        assert_int_equal(cairn_linux_state(i), all[i].is);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states_and_reasons_by_number),
        cmocka_unit_test(test_a_state_is_linux_like),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
