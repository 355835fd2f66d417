/* SPDX-License-Identifier: MIT */
/* arch/mce/machine_check.c: which registers it reads of which banks, and what it says. */
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "kernel/lib/print.h"
#include "tests/unit/support/cmocka.h"

enum { BANKS = 40 }; /* more than are read */

static uint64_t capabilities, global_status;
static uint64_t bank_status[BANKS];
static int no_mca, broken_bank = -1;
static char said[4096];
static unsigned reads;

int arch_rdmsr_safe(uint32_t msr, uint64_t *value)
{
    if (no_mca)
        return -14;
    reads++;
    if (msr == 0x179 || msr == 0x17A) {
        *value = msr == 0x179 ? capabilities : global_status;
        return 0;
    }
    assert_in_range(msr, 0x401, 0x47F);
    unsigned bank = (msr - 0x400) / 4, which = (msr - 0x400) % 4;
    if ((int)bank == broken_bank)
        return -14;
    assert_true(which == 1 || (which == 2 && bank_status[bank] >> 58 & 1) ||
                (which == 3 && bank_status[bank] >> 59 & 1));
    *value = which == 1 ? bank_status[bank] : msr;
    return 0;
}

void kprintf(const char *format, ...)
{
    va_list args;
    size_t used = strlen(said);
    va_start(args, format);
    vsnprintf(said + used, sizeof said - used, format, args);
    va_end(args);
}

static int fresh(void **state)
{
    (void)state;
    memset(bank_status, 0, sizeof bank_status);
    capabilities = global_status = 0;
    no_mca = 0;
    broken_bank = -1;
    said[0] = '\0';
    reads = 0;
    return 0;
}

static void banks(void **state)
{
    (void)state;
    capabilities = 0x0F000814; /* 20 banks, and what else is there */
    global_status = 5;
    bank_status[0] = UINT64_C(1) << 58; /* not valid */
    bank_status[1] = UINT64_C(0xB200000000000005);
    bank_status[7] = UINT64_C(0xBC00000000000134); /* with address and more */
    bank_status[19] = UINT64_C(0x8400000000000001);
    bank_status[20] = UINT64_C(0xBC00000000000134); /* none of this processor's */
    arch_machine_check_print();
    assert_string_equal(said, "machine check: 20 banks, MCG_STATUS 5\n"
                              "machine check: bank 1: status b200000000000005, address 0, misc 0\n"
                              "machine check: bank 7: status bc00000000000134, address 41e, misc 41f\n"
                              "machine check: bank 19: status 8400000000000001, address 44e, misc 0\n");
}

static void many_banks(void **state)
{
    (void)state;
    capabilities = 0xFF;
    broken_bank = 3;
    memset(bank_status, 0xFF, sizeof bank_status);
    arch_machine_check_print();
    assert_int_equal(reads, 2 + 31 * 3 + 1);
    assert_null(strstr(said, "bank 3:"));
    assert_non_null(strstr(said, "bank 31:"));
    assert_null(strstr(said, "bank 32:"));
}

static void none(void **state)
{
    (void)state;
    no_mca = 1;
    arch_machine_check_print();
    assert_string_equal(said, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(banks, fresh),
        cmocka_unit_test_setup(many_banks, fresh),
        cmocka_unit_test_setup(none, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
