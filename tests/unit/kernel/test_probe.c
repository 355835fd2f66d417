/* SPDX-License-Identifier: MIT */
/* kernel/probe/probe.c: the verdict where registers cannot be saved or given back, and what the dump then says. */
#include <stdio.h>
#include <string.h>

#include "kernel/console/report.h"
#include "kernel/lib/print.h"
#include "kernel/probe/probe.c" /* a verdict without the run that leads to it */
#include "tests/unit/support/cmocka.h"

static char verdicts[512], lines[16384]; /* of kreport; of the dump */

void kreport(enum kreport verdict, const char *name, const char *format, ...)
{
    static const char *const words[] = {"PASS", "FAIL", "SKIP"};
    const size_t at = strlen(verdicts);
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(verdicts + at, sizeof verdicts - at, "%s: %s: %s\n", words[verdict], name, text);
}

void trace_dump_print(struct trace_dump *dump, enum cairn_stream stream, const char *format, ...)
{
    const size_t at = strlen(lines);
    va_list args;
    (void)dump, (void)stream;
    va_start(args, format);
    vsnprintf(lines + at, sizeof lines - at - 1, format, args);
    va_end(args);
    strcat(lines, "\n");
}

void kprintf(const char *format, ...)
{
    (void)format;
}

int kmachine_emulated(void)
{
    return 1;
}

int kmachine_virtual(void)
{
    return 1;
}

/* What a verdict has no need of. */
#define NOT_REACHED(name) ".globl " #name "\n" #name ": ud2\n"
__asm__(".pushsection .text\n" NOT_REACHED(arch_copy_from_user) NOT_REACHED(arch_copy_to_user)
            NOT_REACHED(arch_delay_us) NOT_REACHED(arch_ipi_self) NOT_REACHED(arch_irq_set) NOT_REACHED(arch_lvtpc_read)
                NOT_REACHED(arch_lvtpc_write) NOT_REACHED(arch_rdmsr_safe) NOT_REACHED(arch_readable)
                    NOT_REACHED(arch_syscall_entry) NOT_REACHED(arch_wrmsr_safe) NOT_REACHED(ksession_change)
                        NOT_REACHED(ksession_masks) NOT_REACHED(ksession_stamp) NOT_REACHED(kds_buffer_alloc)
                            NOT_REACHED(kds_lend) NOT_REACHED(kds_machine_free) NOT_REACHED(kds_machine_make)
                                NOT_REACHED(kmem_pages_alloc) NOT_REACHED(kmem_pages_free) NOT_REACHED(kevent_init)
                                    NOT_REACHED(kevent_wait) NOT_REACHED(kevent_set) NOT_REACHED(kpanic)
                                        NOT_REACHED(kthread_create) NOT_REACHED(kthread_join) NOT_REACHED(kthread_sleep)
                                            NOT_REACHED(kthread_yield) NOT_REACHED(kworkload_alloc)
                                                NOT_REACHED(kworkload_stopping)
                                                    NOT_REACHED(kworkload_thread) ".popsection\n");
struct kcpu *kcpu_table[MAX_CPUS];
uint32_t kcpu_count;
static struct kds store;
const struct kds *const kds = &store;
const uint8_t ds_probe_code_nops[1], ds_probe_code_nops_end[1], ds_probe_code_slow[1], ds_probe_code_slow_sled[1],
    ds_probe_code_slow_end[1], ds_probe_code_mixed[1], ds_probe_code_mixed_sled[1], ds_probe_code_mixed_end[1],
    ds_probe_code_jumps[1], ds_probe_code_jumps_end[1], ds_probe_code_after_jumps_end[1], ds_probe_code_more_jumps[1],
    ds_probe_code_more_jumps_end[1];

static struct found *begin(void)
{
    kinds = 1;
    memset(found, 0, sizeof found);
    found[0].cpu = 3;
    verdicts[0] = lines[0] = '\0';
    return &found[0];
}

static unsigned times(const char *word)
{
    unsigned n = 0;
    for (const char *at = lines; (at = strstr(at, word)); at++)
        n++;
    return n;
}

/* Nothing was asked: no PASS, and each row has the reason. */
static void not_saved(void **state)
{
    static const char error[] = "MSR 0x600 raises #GP where it is read";
    (void)state;
    conclude(begin(), -EFAULT, error);
    assert_string_equal(verdicts, "FAIL: probe: CPU 3: MSR 0x600 raises #GP where it is read\n");
    kprobe_dump(NULL);
    assert_int_equal(times(error), DS_PROBE_ROWS + DS_PROBE_COSTS);
    assert_non_null(strstr(lines, "probe.3.0=fit||MSR 0x600 raises #GP where it is read\n"));
}

/* What was found out before stays. */
static void not_given_back(void **state)
{
    static const char error[] = "MSR 0x600 raises #GP where it is given back";
    struct found *f = begin();
    (void)state;
    strcpy(f->results[0].answer, "end");
    strcpy(f->results[0].evidence, "7 records");
    strcpy(f->results[1].evidence, "no BTS");
    f->costs[0].samples = 4;
    strcpy(f->costs[1].reason, "no such group");
    conclude(f, -EFAULT, error);
    assert_string_equal(verdicts, "FAIL: probe: CPU 3: MSR 0x600 raises #GP where it is given back\n");
    kprobe_dump(NULL);
    assert_int_equal(times(error), DS_PROBE_ROWS + DS_PROBE_COSTS - 4);
    assert_int_equal(times("|7 records\n") + times("||no BTS\n") + times("|no such group\n"), 3);
}

static void all_well(void **state)
{
    char line[64];
    struct found *f = begin();
    (void)state;
    strcpy(f->results[0].answer, "end");
    conclude(f, 0, NULL);
    snprintf(line, sizeof line, "PASS: probe: CPU 3: %u questions, 1 answered\n", DS_PROBE_ROWS);
    assert_string_equal(verdicts, line);
    assert_true(f->done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_saved),
        cmocka_unit_test(not_given_back),
        cmocka_unit_test(all_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
