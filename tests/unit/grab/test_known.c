/* SPDX-License-Identifier: MIT */
/* The known program on paper is what a processor executes, step by step: its instructions, branches and RCX. */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/support/cmocka.h"
#include "tools/grab/report/known.h"

#define ITERATIONS 6u

struct steps {
    struct grab_state last; /* the state before */
    enum grab_label label;  /* its instruction; GRAB_ELSEWHERE: none yet */
    uint64_t instructions, branches;
};

static void compare(struct steps *s, uint64_t rip, uint64_t rcx)
{
    struct grab_state state, before;
    enum grab_label to = GRAB_ELSEWHERE;
    if (!grab_known_state(&state, rip, rcx, ITERATIONS))
        return;
    if (s->label != GRAB_ELSEWHERE) {
        s->instructions++;
        s->branches += grab_known_is_branch(s->label);
        before = state;
        assert_int_equal(grab_known_back(&before, ITERATIONS), s->label);
        assert_int_equal(before.left, s->last.left);
        const bool taken = grab_known_taken(s->label, &s->last, &to);
        assert_int_equal(taken, grab_known_is_branch(s->label) && state.next == to);
    }
    assert_int_equal(grab_known_count(&state, ITERATIONS, false), s->instructions);
    assert_int_equal(grab_known_count(&state, ITERATIONS, true), s->branches);
    s->last = state;
    s->label = state.next;
}

static void paper_is_what_runs(void **state)
{
    (void)state;
    struct steps steps = {.label = GRAB_ELSEWHERE};
    const pid_t child = fork();
    int status;
    if (!child) {
        uint64_t buffer[2] = {0};
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        grab_known(ITERATIONS, buffer);
        raise(SIGKILL); /* not exit(): this is no test */
    }
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status) && steps.instructions < 1000) {
        struct user_regs_struct r;
        if (ptrace(PTRACE_GETREGS, child, NULL, &r) == 0)
            compare(&steps, r.rip, r.rcx);
        ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
    }
    assert_int_equal(steps.instructions, ITERATIONS / 2 * 21 - 1); /* the last has no state after it */
    assert_int_equal(steps.branches, ITERATIONS * 4 - 1);
}

static void what_is_no_state(void **state)
{
    (void)state;
    struct grab_state s;
    assert_false(grab_known_state(&s, grab_known_at[GRAB_K0] - 1, 2, ITERATIONS));
    assert_false(grab_known_state(&s, grab_known_at[GRAB_K0], 0, ITERATIONS));
    assert_false(grab_known_state(&s, grab_known_at[GRAB_K0], ITERATIONS + 1, ITERATIONS));
    assert_false(grab_known_state(&s, grab_known_at[GRAB_K4], 2, ITERATIONS)); /* not executed there */
    assert_true(grab_known_state(&s, grab_known_at[GRAB_K8], 0, ITERATIONS));
    assert_int_equal(s.left, 1);
    assert_true(grab_known_state(&s, grab_known_at[GRAB_K0], ITERATIONS, ITERATIONS));
    assert_int_equal(grab_known_back(&s, ITERATIONS), GRAB_ELSEWHERE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paper_is_what_runs),
        cmocka_unit_test(what_is_no_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
