/* SPDX-License-Identifier: MIT */
/* The judge of workload `known`: what is right passes, what is wrong by one does not. */
#include "kernel/selftest/paper.h"
#include "tests/unit/support/cmocka.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* mov; dec; jnz (taken); dec; jnz; load (faults); fix; jmp; load; syscall */
enum { MOV = 0x10, DEC = 0x20, JNZ = 0x22, LOAD = 0x30, SYSCALL = 0x38, FIX = 0x50, BACK = 0x54, ENTRY = 0x1000 };
static const struct kpaper_step steps[] = {
    {MOV, 0},
    {DEC, 0},
    {JNZ, STEP_BRANCH | STEP_CONDITIONAL | STEP_NEAR_TAKEN},
    {DEC, 0},
    {JNZ, STEP_BRANCH | STEP_CONDITIONAL},
    {LOAD, STEP_ATTEMPT},
    {FIX, 0},
    {BACK, STEP_BRANCH | STEP_NEAR_TAKEN},
    {LOAD, 0},
    {SYSCALL, STEP_BRANCH | STEP_FAR | STEP_SYSTEM},
};
static const struct kpaper paper = {steps, COUNT(steps), ENTRY};

static void counts_of_the_paper(void **state)
{
    (void)state;
    static const unsigned expected[DS_EVENT_KINDS] = {
        [DS_EVENT_INSTRUCTIONS] = 9, [DS_EVENT_CYCLES] = 9,     [DS_EVENT_BRANCHES] = 4,
        [DS_EVENT_CONDITIONAL] = 2,  [DS_EVENT_NEAR_TAKEN] = 2, [DS_EVENT_FAR_BRANCH] = 1,
    };
    for (unsigned kind = 0; kind < DS_EVENT_KINDS; kind++)
        assert_int_equal(kpaper_count(&paper, kind), expected[kind]);
}

static enum kpaper_verdict counted(bool exact, bool certain, uint64_t a, uint64_t b, uint64_t c)
{
    return kpaper_judge_counts(exact, certain, 100, (const uint64_t[]){a, b, c}, 3);
}

static void counts_of_the_model(void **state)
{
    (void)state;
    assert_int_equal(counted(true, true, 100, 100, 100), KPAPER_VERIFIED);
    assert_int_equal(counted(true, false, 100, 100, 101), KPAPER_WRONG);
    assert_int_equal(counted(true, false, 99, 99, 99), KPAPER_WRONG);
    assert_int_equal(kpaper_judge_counts(true, true, 100, NULL, 0), KPAPER_WRONG);
}

static void counts_of_a_processor(void **state)
{
    (void)state;
    assert_int_equal(counted(false, true, 101, 100, 107), KPAPER_VERIFIED); /* interrupts, but not every time */
    assert_int_equal(counted(false, true, 101, 103, 101), KPAPER_UNKNOWN);  /* every time */
    assert_int_equal(counted(false, true, 101, 101, 101), KPAPER_WRONG);    /* never: it counts something else */
    assert_int_equal(counted(false, true, 100, 99, 100), KPAPER_WRONG);     /* nothing takes away */
    assert_int_equal(counted(false, false, 101, 101, 101), KPAPER_UNKNOWN); /* nobody is certain of the rule */
    assert_int_equal(counted(false, false, 99, 99, 99), KPAPER_UNKNOWN);
    assert_int_equal(counted(false, false, 100, 101, 99), KPAPER_VERIFIED);
}

static enum kpaper_verdict recorded(enum ds_event_kind kind, uint64_t spacing, const struct kpaper_record *r, size_t n,
                                    size_t expected_wrong)
{
    size_t wrong;
    enum kpaper_verdict verdict = kpaper_judge_records(&paper, kind, spacing, r, n, &wrong);
    assert_int_equal(wrong, expected_wrong);
    return verdict;
}

static void records_of_the_model(void **state)
{
    (void)state;
    /* Every other of the nine instructions: an attempt is none, but where the one before it went on. */
    struct kpaper_record r[] = {{DEC, JNZ}, {DEC, JNZ}, {FIX, BACK}, {LOAD, SYSCALL}};
    assert_int_equal(recorded(DS_EVENT_INSTRUCTIONS, 2, r, 4, 4), KPAPER_VERIFIED);
    assert_int_equal(recorded(DS_EVENT_INSTRUCTIONS, 2, r, 3, 3), KPAPER_WRONG); /* one is missing */
    assert_int_equal(recorded(DS_EVENT_INSTRUCTIONS, 3, r, 4, 0), KPAPER_WRONG);
    assert_int_equal(recorded(DS_EVENT_INSTRUCTIONS, 5, &(struct kpaper_record){JNZ, LOAD}, 1, 1), KPAPER_VERIFIED);
    assert_int_equal(recorded(DS_EVENT_INSTRUCTIONS, 5, &(struct kpaper_record){JNZ, FIX}, 1, 0), KPAPER_WRONG);
    for (unsigned i = 0; i < 4; i++) {
        r[i].ip++;
        assert_int_equal(recorded(DS_EVENT_INSTRUCTIONS, 2, r, 4, i), KPAPER_WRONG);
        r[i].ip--;
        r[i].next++;
        assert_int_equal(recorded(DS_EVENT_INSTRUCTIONS, 2, r, 4, i), KPAPER_WRONG);
        r[i].next--;
    }
    const struct kpaper_record branches[] = {{0, DEC}, {0, LOAD}, {0, LOAD}, {0, ENTRY}, {0, 0}}; /* formats 0, 1 */
    assert_int_equal(recorded(DS_EVENT_BRANCHES, 1, branches, 4, 4), KPAPER_VERIFIED);
    assert_int_equal(recorded(DS_EVENT_BRANCHES, 1, branches, 5, 4), KPAPER_WRONG); /* one too many */
    assert_int_equal(recorded(DS_EVENT_FAR_BRANCH, 1, &(struct kpaper_record){SYSCALL, 0}, 1, 1), KPAPER_VERIFIED);
    assert_int_equal(recorded(DS_EVENT_FAR_BRANCH, 1, &(struct kpaper_record){BACK, 0}, 1, 0), KPAPER_WRONG);
    assert_int_equal(recorded(DS_EVENT_FAR_BRANCH, 1, &(struct kpaper_record){0, 0}, 1, 0), KPAPER_WRONG);
    assert_int_equal(recorded(DS_EVENT_NEAR_CALL, 1, NULL, 0, 0), KPAPER_VERIFIED); /* it never happens */
    assert_int_equal(recorded(DS_EVENT_NEAR_CALL, 1, branches, 1, 0), KPAPER_WRONG);
}

static void records_of_a_processor(void **state)
{
    (void)state;
    const struct kpaper_record r[] = {{JNZ, DEC}, {JNZ, LOAD}, {SYSCALL, ENTRY}, {DEC, JNZ}};
    assert_int_equal(recorded(DS_EVENT_BRANCHES, 0, r, 3, 3), KPAPER_CONSISTENT);
    assert_int_equal(recorded(DS_EVENT_BRANCHES, 0, r, 4, 3), KPAPER_WRONG);   /* no branch */
    assert_int_equal(recorded(DS_EVENT_NEAR_TAKEN, 0, r, 2, 1), KPAPER_WRONG); /* one that is never taken there */
    assert_int_equal(recorded(DS_EVENT_BRANCHES, 0, NULL, 0, 0), KPAPER_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_of_the_paper),    cmocka_unit_test(counts_of_the_model),
        cmocka_unit_test(counts_of_a_processor),  cmocka_unit_test(records_of_the_model),
        cmocka_unit_test(records_of_a_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
