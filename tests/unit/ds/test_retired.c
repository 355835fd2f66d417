/* SPDX-License-Identifier: MIT */
/* What type of branch an instruction was; its events are in test_soft_branches.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ds/soft/retired.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
