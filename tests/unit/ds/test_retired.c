/* SPDX-License-Identifier: MIT */
/* What type of branch an instruction was, and its events. */
#include <stdbool.h>

#include "ds/soft/retired.h"
#include "tests/unit/support/cmocka.h"

static void types(void **state)
{
    (void)state;
    static const struct {
        uint8_t code[8];
        int to; /* from its address */
        enum ds_model_branch_type type;
        bool to_next;
    } rows[] = {
        {{0x75, 0x10}, 18, DS_MODEL_CONDITIONAL, false},
        {{0x0F, 0x84, 0x10, 0, 0, 0}, 22, DS_MODEL_CONDITIONAL, false},
        {{0xE2, 0xF0}, -14, DS_MODEL_CONDITIONAL, false},
        {{0xEB, 0x10}, 18, DS_MODEL_DIRECT_JUMP, false},
        {{0xE9, 0x10, 0, 0, 0}, 21, DS_MODEL_DIRECT_JUMP, false},
        {{0xEB, 0}, 2, DS_MODEL_DIRECT_JUMP, false},
        {{0xFF, 0xE0}, 77, DS_MODEL_INDIRECT_JUMP, false},
        {{0xFF, 0x25, 0, 0, 0, 0}, 77, DS_MODEL_INDIRECT_JUMP, false},
        {{0xE8, 0x10, 0, 0, 0}, 21, DS_MODEL_DIRECT_CALL, false},
        {{0xE8, 0, 0, 0, 0}, 5, DS_MODEL_DIRECT_CALL, true},
        {{0xFF, 0xD0}, 77, DS_MODEL_INDIRECT_CALL, false},
        {{0xFF, 0xD0}, 2, DS_MODEL_INDIRECT_CALL, false}, /* where it leads, not how long it is */
        {{0xC3}, -40, DS_MODEL_RETURN, false},
        {{0xC2, 8, 0}, -40, DS_MODEL_RETURN, false},
        {{0x48, 0xCF}, 300, DS_MODEL_OTHER_BRANCH, false},
        {{0x48, 0xCB}, 300, DS_MODEL_OTHER_BRANCH, false},
        {{0x0F, 0x05}, 300, DS_MODEL_OTHER_BRANCH, false},
        {{0xCD, 0x80}, 300, DS_MODEL_OTHER_BRANCH, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ds_insn insn;
        struct ds_model_retired retired;
        struct ds_model_branch branch;
        assert_int_not_equal(ds_insn_decode(rows[i].code, sizeof rows[i].code, &insn), 0);
        assert_true(ds_retired(&retired, &branch, &insn, 0x1000, 0x1000 + (uint64_t)rows[i].to, 0, 1));
        assert_ptr_equal(retired.branch, &branch);
        if (branch.type != rows[i].type || branch.to_next != rows[i].to_next)
            fail_msg("row %zu: type %d", i, branch.type);
    }
}

/* Every instruction is one, every branch a branch; what else each is. */
static void events(void **state)
{
    (void)state;
#define E(e) DS_BIT(DS_MODEL_##e)
    const uint64_t taken = E(BRANCH_TAKEN) | E(ANY_TAKEN), indirect = E(NEAR_INDIRECT) | E(NEAR_INDIRECT_OR_RETURN),
                   forward = taken | E(BRANCH_CONDITIONAL) | E(CONDITIONAL_TAKEN) | E(CONDITIONAL_FORWARD),
                   backward = taken | E(BRANCH_CONDITIONAL) | E(CONDITIONAL_TAKEN) | E(CONDITIONAL_BACKWARD);
    const struct {
        uint8_t code[8];
        int to; /* from its address */
        bool branch;
        uint64_t events;
    } rows[] = {
        {{0x90}, 1, false, 0},
        {{0x0F, 0x18, 0x08}, 3, false, 0}, /* PREFETCHT0: an access, which is not told here */
        {{0x75, 0x10}, 18, true, forward},
        {{0x75, 0x10}, 2, true, E(BRANCH_CONDITIONAL) | E(CONDITIONAL_NOT_TAKEN)},
        {{0x75, 0}, 2, true, forward},     /* to its successor */
        {{0x75, 0xFE}, 0, true, backward}, /* to itself */
        {{0x0F, 0x85, 0xF0, 0xFF, 0xFF, 0xFF}, -10, true, backward},
        {{0xE2, 0xF0}, -14, true, backward},
        {{0xEB, 0x10}, 18, true, taken | E(NEAR_JUMP) | E(NEAR_DIRECT_JUMP)},
        {{0xE9, 0xF0, 0xFF, 0xFF, 0xFF}, -11, true, taken | E(NEAR_JUMP) | E(NEAR_DIRECT_JUMP)},
        {{0xFF, 0xE0}, 77, true, taken | E(NEAR_JUMP) | E(NEAR_INDIRECT_JUMP) | indirect},
        {{0xE8, 0x10, 0, 0, 0}, 21, true, taken | E(NEAR_CALL) | E(NEAR_DIRECT_CALL)},
        {{0xFF, 0xD0}, 77, true, taken | E(NEAR_CALL) | E(NEAR_INDIRECT_CALL) | indirect},
        {{0xC3}, -40, true, taken | E(NEAR_RETURN) | E(NEAR_INDIRECT_OR_RETURN)},
        {{0x48, 0xCB}, 300, true, E(FAR_BRANCH) | E(ANY_TAKEN)},
        {{0x0F, 0x05}, 300, true, E(FAR_BRANCH) | E(ANY_TAKEN)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ds_insn insn;
        struct ds_model_retired retired;
        struct ds_model_branch branch;
        assert_int_not_equal(ds_insn_decode(rows[i].code, sizeof rows[i].code, &insn), 0);
        assert_true(ds_retired(&retired, &branch, &insn, 0x1000, 0x1000 + (uint64_t)rows[i].to, 0, 1));
        const uint64_t kind = E(BRANCH) | (rows[i].events & E(BRANCH_CONDITIONAL) ? 0 : E(BRANCH_UNCONDITIONAL));
        const uint64_t all = rows[i].events | E(INSTRUCTION) | (rows[i].branch ? kind : E(NOT_BRANCH));
        if (retired.events != all)
            fail_msg("row %zu: %llx, not %llx", i, (unsigned long long)retired.events, (unsigned long long)all);
    }
#undef E
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(types), cmocka_unit_test(events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
