/* SPDX-License-Identifier: MIT */
/* The monitor's editor, commands and words, on a machine of the test's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/layout.h"
#include "kernel/monitor/inside.h"
#include "kernel/monitor/keys.h"
#include "kernel/monitor/line.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/monitor_machine.h"
#include "trace/wire/format.h"

static const struct kmonitor_command *const groups[] = {kmonitor_general, kmonitor_registers, kmonitor_areas,
                                                        kmonitor_records, NULL};
static struct kmonitor monitor;

static int setup(void **state)
{
    (void)state;
    monitor_machine_reset();
    monitor = (struct kmonitor){.machine = &monitor_machine, .groups = groups};
    return 0;
}

/* ---- the editor -------------------------------------------------------------------------------------------------- */

/* A terminal of one line: what is on it, and where the cursor is. */
static struct {
    char text[256];
    size_t at;
    unsigned bells;
} terminal;
static struct kmonitor_line line;

static void put(void *context, const char *text, size_t size)
{
    (void)context;
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\r') {
            terminal.at = 0;
        } else if (text[i] == '\n') {
            memset(&terminal, 0, sizeof terminal);
        } else if (text[i] == '\a') {
            terminal.bells++;
        } else if (text[i] == '\x1b') {
            unsigned n = 0;
            assert_int_equal(text[++i], '[');
            while (text[++i] >= '0' && text[i] <= '9')
                n = 10 * n + (unsigned)(text[i] - '0');
            if (text[i] == 'K')
                memset(terminal.text + terminal.at, 0, sizeof terminal.text - terminal.at);
            else if (text[i] == 'D')
                terminal.at -= n;
            else
                assert_true(text[i] == 'H' || text[i] == 'J');
        } else {
            assert_true(text[i] >= ' ' && text[i] <= '~' && terminal.at < 79);
            terminal.text[terminal.at++] = text[i];
        }
}

/* The line that the keys make, or NULL while there is none. */
static const char *type(const char *keys)
{
    for (; *keys; keys++)
        if (kmonitor_line_key(&line, *keys))
            return line.text;
    return NULL;
}

static void begin_line(void)
{
    memset(&terminal, 0, sizeof terminal);
    kmonitor_line_begin(&line);
}

static void begin_editor(void)
{
    memset(&line, 0, sizeof line);
    line.put = put;
    line.choice = kmonitor_choice;
    line.context = &monitor;
    line.prompt = "cairn> ";
    begin_line();
}

static void typed(const char *keys, const char *expected)
{
    begin_line();
    assert_null(type(keys));
    assert_string_equal(line.text, expected);
    assert_memory_equal(terminal.text, "cairn> ", 7);
    assert_string_equal(terminal.text + 7, expected); /* what is shown is what there is */
    assert_int_equal(terminal.at, 7 + line.at);
    assert_non_null(type("\r"));
}

static void edits(void **state)
{
    (void)state;
    begin_editor();
    typed("msr 1", "msr 1");
    typed("ac\x1b[Db", "abc");
    typed("bc\x01"
          "a\x05"
          "d",
          "abcd");
    typed("abc\x08\x7f", "a");
    typed("one two three\x17", "one two ");
    typed("one two\x15", "");
    typed("one two\x01\x0b", "");
    typed("abc\x1b[H\x1b[3~\x1b[C\x04", "b");
    typed("abc\x1b[D\x1b[Dx\x1b[Fy", "axbcy");
    typed("abc\x1bOD\x06\x02\x02z", "azbc");
    typed("half\x03whole", "whole");
    typed("ab\x0c"
          "c",
          "abc");
}

static void refuses_what_it_cannot_do(void **state)
{
    (void)state;
    begin_editor();
    begin_line();
    const unsigned before = terminal.bells;
    assert_null(type("\x7f\x1b[A\x1b[Z\x07\x1b[99;5~"));
    assert_true(terminal.bells >= before + 4);
    assert_int_equal(line.size, 0);
    for (unsigned i = 0; i < 1000; i++)
        assert_null(type("x"));
    assert_int_equal(line.size, KMONITOR_LINE);
    assert_non_null(type("\n"));
}

static void keeps_a_history(void **state)
{
    (void)state;
    char text[8];
    begin_editor();
    for (unsigned i = 0; i < KMONITOR_HISTORY + 4; i++) {
        snprintf(text, sizeof text, "l%u", i);
        begin_line();
        type(text);
        assert_non_null(type("\r"));
        assert_non_null(type("\r")); /* an empty one is none; and CR LF is one end of line */
        assert_null(type("\n"));
    }
    typed("own\x1b[A\x1b[A", "l18");
    typed("own\x10\x10\x0e\x0e", "own");
    begin_line();
    for (unsigned i = 0; i < 2 * KMONITOR_HISTORY; i++)
        type("\x1b[A");
    assert_string_equal(line.text, "l6"); /* own and l18 are in it now, too */
}

static void completes(void **state)
{
    (void)state;
    begin_editor();
    typed("expl\t", "explain ");
    typed("msr ia32_pebs_e\t", "msr IA32_PEBS_ENABLE ");
    typed("msr ia32_perf_g\t", "msr IA32_PERF_GLOBAL_");
    typed("help poke\t", "help poke ");
    typed("nothing\t", "nothing");
    typed("mem x\t", "mem x");
    begin_line();
    assert_null(type("msr ia32_fixed_ctr\t\t")); /* two: they are listed */
    assert_string_equal(line.text, "msr ia32_fixed_ctr");
    assert_string_equal(terminal.text, "cairn> msr ia32_fixed_ctr");
}

static void takes_a_keyboard(void **state)
{
    static const struct {
        uint8_t code;
        const char *text;
    } keys[] = {{0x1E, "a"}, {0x9E, ""},     {0x2A, ""}, {0x1E, "A"},  {0x02, "!"}, {0xAA, ""},       {0x02, "1"},
                {0x1D, ""},  {0x1E, "\x01"}, {0x9D, ""}, {0x1C, "\r"}, {0xE0, ""},  {0x48, "\x1b[A"}, {0x0E, "\b"},
                {0x39, " "}, {0x7F, ""},     {0x58, ""}, {0xE0, ""},   {0x2A, ""},  {0x1E, "a"},      {0x0C, "-"}};
    struct kmonitor_keys k = {0};
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_string_equal(kmonitor_keys_code(&k, keys[i].code), keys[i].text);
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

static const char *say(const char *command)
{
    char text[KMONITOR_LINE + 1];
    static size_t before;
    snprintf(text, sizeof text, "%s", command);
    before = strlen(monitor_said);
    assert_int_equal(kmonitor_run(&monitor, text), 0);
    for (const char *at = monitor_said + before; *at; at += strcspn(at, "\n") + 1)
        assert_true(strcspn(at, "\n") <= 80);
    return monitor_said + before;
}

static void said(const char *command, const char *expected)
{
    const char *text = say(command);
    if (!strstr(text, expected))
        fail_msg("%s: said '%s', not '%s'", command, text, expected);
}

static void answers(void **state)
{
    (void)state;
    said("msr IA32_PEBS_ENABLE 0x100000003", "  IA32_PEBS_ENABLE         0x100000003  (model)\n");
    said("msr ia32_pebs_enable", "      PMC0 to PMC1 ");
    said("msr ia32_pebs_enable 0", "* IA32_PEBS_ENABLE         0x0  (model)\n"); /* it has changed */
    said("msr ia32_pebs_enable", "  IA32_PEBS_ENABLE         0x0  (model)\n");
    said("msr 0x38E 0x4000000000000000", "  IA32_PERF_GLOBAL_STATUS  0x4000000000000000  (model)\n"
                                         "      OVF_BUF                the DS buffer reached its threshold\n");
    said("msr IA32_MISC_ENABLE 0x80", "0x80  (model)\n      PERFMON                there is performance monitoring\n");
    said("msr IA32_DEBUGCTL 1", "0x1: LBR (the branch history is on)  (model)\n");
    said("msr IA32_PMC3", "IA32_PMC3 ");
    said("msr 0x999", "MSR 999H: RDMSR of 999H raises #GP\n");
    said("msr 0x999 1", "999H is no MSR of the Debug Store");
    said("msr IA32_PERF_CAPABILITIES 1", "WRMSR of 345H with 0x1 raises #GP: nothing is written");
    said("msr IA32_FOO", "'IA32_FOO' is no MSR of this table");
    said("msr", "usage: msr NAME|NUMBER [VALUE]\n");
    said("msr 1 2 3", "usage: msr");
    said("cpu 1", "CPU 1 of 3; the monitor runs on CPU 0");
    said("msr IA32_DS_AREA", "CPU 1 is held");
    said("cpu 3", "there is no CPU 3, only 0 to 2\n");
    said("nonsense", "'nonsense' is not a command");
    said("", "");
    said("# a comment", "");
    said("help msr", "usage: msr NAME|NUMBER [VALUE]\n");
    said("help nonsense", "is not a command");
    assert_int_equal(kmonitor_run(&monitor, (char[]){"go"}), KMONITOR_GO);
    assert_int_equal(kmonitor_run(&monitor, (char[]){"  quit "}), KMONITOR_QUIT);
    assert_int_equal(kmonitor_run(&monitor, (char[]){"go away"}), 0);
}

static void reaches_memory(void **state)
{
    (void)state;
    memcpy(monitor_memory, "Cairn\x01", 6);
    said("mem 0xffff800000100000 6", "ffff800000100000  43616972 6e01                        Cairn.\n");
    said("mem code+4 4", "ffffffff80001004  90909090 ");
    said("mem 0", "0x0: not mapped for the kernel\n");
    said("mem 0xffffffffffffffff 2", "not mapped");
    said("mem 0xffff800000101ff8 64", "0xffff800000101ff8: not mapped"); /* its end is not */
    said("mem code 2000", "'2000' is too large: at most 1024");
    said("mem code 0", "usage: mem");
    said("mem codex", "'codex' is no address");
    said("mem code+0xffffffffffffffff", "is no address");
    said("poke 0xffff800000100000 0x41 1", "wrote 0x41");
    assert_int_equal(monitor_memory[0], 'A');
    assert_int_equal(monitor_memory[1], 'a');
    said("poke 0xffff800000100000 0x100 1", "does not fit into 1 bytes");
    said("poke 0xffff800000100000 1 3", "usage: poke");
    said("poke code 1", "the kernel may not write there");
    said("poke 4 1", "not mapped");
    said("poke 4 one", "'one' is no number");
}

static void draws(void **state)
{
    (void)state;
    said("ds", "  28 PebsIndex               ffff800000101210  p  next: base + 3 records\n");
    said("ds", "  40 PebsGpCounterReset0     0000fffffffff82d  d  -2003 in 48 bits\n");
    said("ds", "PEBS buffer: room for 8 records of 176 bytes\n  ##########################---------......");
    monitor_memory[MACHINE_AREA - MACHINE_MEMORY + 0x40] = 0; /* the reset value's lowest byte */
    said("ds", "*  40 PebsGpCounterReset0     0000fffffffff800");
    memset(&monitor_memory[MACHINE_AREA - MACHINE_MEMORY + 0x40], 0, 8); /* one that becomes 0 shows, once */
    said("ds", "*  40 PebsGpCounterReset0     0000000000000000");
    said("ds", "      and 12 reset values that are 0: not used\n");
    said("records", "   2  code+0x20 ");
    said("records", "3 records in the PEBS buffer of CPU 0\n");
    said("records 1", "   8 EventingIP           ffffffff80001010  code+0x10\n");
    said("records 3", "there is no record 3: the buffer has 3\n");
    monitor_memory[MACHINE_BUFFER - MACHINE_MEMORY + 6] = 7; /* its size: of no record */
    said("records", "no record of format 4: its size is wrong");
    said("counters", "LVTPC                    0x100ee: vector 0xee, fixed, masked: no PMI");
    said("msr IA32_DS_AREA 0x1000", "0x1000");
    said("ds", "not mapped for the kernel");
    said("msr IA32_DS_AREA 0", "0x0");
    said("ds", "nothing is set up");
    said("cpu 2", "CPU 2");
    said("ds", "there is no Debug Store on CPU 2");
}

/* An index as far from its base as one that is still told in records: longer than its column. */
static void draws_a_damaged_area(void **state)
{
    const uint64_t bts[2] = {MACHINE_BUFFER, MACHINE_BUFFER + UINT32_MAX};
    (void)state;
    memcpy(&monitor_memory[MACHINE_AREA - MACHINE_MEMORY], bts, sizeof bts);
    said("ds", "BtsIndex                ffff800100100fff  p  next: base + 178956970 recor\n");
}

/* Architectural PEBS: what `ds` draws is by its registers, and records may be in fragments. */
static void draws_architectural_pebs(void **state)
{
    (void)state;
    monitor_machine_reset_arch();
    said("ds", "  28 PebsIndex               0000000000000000  p  no buffer\n");
    said("ds", "architectural PEBS of CPU 0: not in the DS area, which is for BTS alone\n");
    said("ds",
         "IA32_PEBS_BASE           0x7000000\n      ADDRESS=0x7000         physical address, in units of 4 KiB\n");
    said("ds", "      WR=0x2c                where the next record goes, in units of 16 bytes\n");
    said("ds", "PEBS buffer: room for 18 records of 224 bytes\n  ############--");
    said("ds", " end ^\n");
    said("records", "   1  code+0x10                   0x1                 1001\n");
    said("records", "3 records in the PEBS buffer of CPU 0\n");
    said("records 0", "  10 EventingIP           ffffffff80001000  code\n");
    said("records 1", "   0 RecordHeader         0000000000000010");
    said("records 1", "  10 RecordHeader         8000000080000040");
    said("records 1", "  20 EventingIP           ffffffff80001010  code+0x10\n");
    said("records 1", "  50 RecordHeader         20000000000000b0");
    said("records 1", "  60 RFLAGS ");
    said("records 1", "  f0 SSP ");
    said("counters", "IA32_PEBS_INDEX");
    said("counters", "IA32_PMC_GP0_CFG_C");
    said("counters", "RELOAD=0xfffff82d");
    said("msr ia32_pmc_gp3_cfg_c 0x8000000000000001", "  IA32_PMC_GP3_CFG_C       0x8000000000000001");
    said("msr 0x190f", "  IA32_PMC_GP3_CFG_C ");
    said("explain IA32_PMC_FX1_CFG_C", "IA32_PMC_FX0_CFG_C: MSR 1983H, and 6 more after it, 4 apart\n");
    said("explain WR", "IA32_PEBS_INDEX.WR: bits 26:4\n");
    monitor_memory[MACHINE_BUFFER - MACHINE_MEMORY] = 7; /* its size: of no record */
    said("records", "no record of format 15: its size is wrong");
    said("msr IA32_DS_AREA 0", "0x0"); /* PEBS does without */
    assert_null(strstr(say("ds"), "PebsIndex"));
    said("ds", "PEBS buffer: room for 18 records");
    said("msr IA32_PEBS_BASE 0", "0x0");
    said("ds", "nothing is set up");
    said("records", "CPU 0 has no PEBS buffer: `ds` says why");
}

static void explains(void **state)
{
    (void)state;
    said("explain OVF_BUF", "IA32_PERF_GLOBAL_STATUS.OVF_BUF: bit 62\n  the DS buffer reached its threshold\n"
                            "  SDM vol. 3B, \"Architectural Performance Monitoring\"\n");
    said("explain ia32_pmc2", "IA32_PMC0: MSR C1H, and 9 more after it\n");
    said("explain PebsIndex", "PebsIndex: offset 28H of the DS area\n");
    said("explain IA32_DEBUGCTL_BTS", "IA32_DEBUGCTL.BTS: bit 7\n");
    said("explain IA32_DEBUGCTL.BTS", "IA32_DEBUGCTL.BTS: bit 7\n");
    said("explain PEBS", "'PEBS' is no name");
    for (size_t i = 0; i < kmonitor_names_count; i++) { /* two lines at most, and a section */
        char command[64];
        snprintf(command, sizeof command, "explain %s", kmonitor_names[i].name);
        const char *text = say(command);
        assert_non_null(strstr(text, "  SDM vol. "));
        assert_true(strlen(kmonitor_names[i].text) <= 2 * 77);
    }
}

/* The field that a line defines; NULL: none of register `reg`. */
static const char *field_of(const char *name, const char *reg)
{
    static const char *const shared[] = {"IA32_PMC_CFG_B_", "IA32_PMC_CFG_C_"}; /* by all counters' registers */
    for (unsigned i = 0; i < 2; i++)
        if (strncmp(name, shared[i], strlen(shared[i])) == 0)
            return name + strlen(shared[i]);
    size_t stem = strlen(reg);
    while (stem && reg[stem - 1] >= '0' && reg[stem - 1] <= '9')
        stem--;
    return strncmp(name, reg, stem) == 0 && name[stem] == '_' ? name + stem + 1 : NULL;
}

static void knows(const char *file, unsigned *msrs, unsigned *fields)
{
    char text[256], name[64], reg[64] = "", value[64];
    FILE *f = fopen(file, "r");
    assert_non_null(f);
    while (fgets(text, sizeof text, f)) {
        uint32_t number;
        char *end;
        if (sscanf(text, "#define %63s %63[^\n]", name, value) != 2 ||
            (strncmp(name, "IA32_", 5) != 0 && strncmp(name, "MSR_", 4) != 0) || strchr(name, '('))
            continue;
        const unsigned long n = strtoul(value, &end, 16);
        if (strncmp(value, "0x", 2) == 0 && *end == 'u') {
            snprintf(reg, sizeof reg, "%s", name);
            if (!kmonitor_msr_named(name, &number) || number != n)
                fail_msg("%s has no entry of its number", name);
            ++*msrs;
            continue;
        }
        const char *field = field_of(name, reg);
        if (!field || (strncmp(value, "DS_BIT", 6) != 0 && strncmp(value, "(1u", 3) != 0))
            continue;
        snprintf(text, sizeof text, "explain %s", field);
        if (!strstr(say(text), "SDM vol. "))
            fail_msg("%s has no entry", name);
        ++*fields;
    }
    fclose(f);
}

/* Each MSR and each of its bits in these files has an entry. */
static void knows_the_layout(void **state)
{
    unsigned msrs = 0, fields = 0;
    (void)state;
    knows("ds/layout.h", &msrs, &fields);
    assert_true(msrs >= 25 && fields >= 35);
    msrs = fields = 0;
    knows("ds/lbr_layout.h", &msrs, &fields);
    assert_true(msrs >= 5 && fields >= 10);
    msrs = fields = 0;
    knows("ds/pebs23_layout.h", &msrs, &fields);
    assert_true(msrs == 9 && fields >= 15);
}

static void reads_batches(void **state)
{
    static uint8_t bytes[CCSWAP_BATCH_BYTES];
    const struct ccswap_buffer header = {.first_time_stamp = 77, .tid_table = {8, 12}, .thread_base_priority = {16, 3}};
    (void)state;
    memcpy(bytes, &header, sizeof header);
    bytes[sizeof header] = 0x08 | CCSWAP_IDLE_SHORT;                  /* +2 */
    const uint32_t lite = CCSWAP_LITE | 1u << 2 | 4u << 9 | 5u << 15; /* thread 12, DelayExecution, +5 */
    const uint32_t full[2] = {CCSWAP_FULL | 9u << 2, 0u | 40u << 4 | 8u << 10 | 3u << 15}; /* Ready */
    memcpy(bytes + sizeof header + 2, &lite, 4);
    memcpy(bytes + sizeof header + 6, full, 8);
    kmonitor_show_batch(&monitor, bytes, sizeof header + 14);
    assert_non_null(strstr(monitor_said, "   8 TidTable[0]       00000008          thread 8, base priority 16\n"));
    assert_non_null(strstr(monitor_said, "  58 0800             IDLE_SHORT +2: the idle thread gives way\n"));
    assert_non_null(strstr(monitor_said, "LITE +5: thread 12, waits: DelayExecution\n"));
    assert_non_null(strstr(monitor_said, "FULL +9: thread 8, Ready, next: priority 8, waited 3\n"));
    kmonitor_show_batch(&monitor, bytes, sizeof header + 12);
    assert_non_null(strstr(monitor_said, "  5e a record that is cut off\n"));
    kmonitor_show_batch(&monitor, bytes, 3);
    assert_non_null(strstr(monitor_said, "3 bytes: shorter than its header\n"));
}

/* '*' is for what has changed since it was last shown, also when more has been shown than is kept. */
static void marks(void **state)
{
    struct kmonitor m = {0};
    (void)state;
    for (uint32_t key = 0; key < 3 * KMONITOR_SEEN; key++) {
        assert_int_equal(kmonitor_mark(&m, key, 1), ' ');
        assert_int_equal(kmonitor_mark(&m, key, 1), ' ');
        assert_int_equal(kmonitor_mark(&m, key, 2), '*');
    }
    assert_int_equal(kmonitor_mark(&m, 0, 3), ' '); /* forgotten long since */
    assert_int_equal(kmonitor_mark(&m, 3 * KMONITOR_SEEN - 1, 3), '*');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(edits, setup),
        cmocka_unit_test_setup(refuses_what_it_cannot_do, setup),
        cmocka_unit_test_setup(keeps_a_history, setup),
        cmocka_unit_test_setup(completes, setup),
        cmocka_unit_test_setup(takes_a_keyboard, setup),
        cmocka_unit_test_setup(answers, setup),
        cmocka_unit_test_setup(reaches_memory, setup),
        cmocka_unit_test_setup(draws, setup),
        cmocka_unit_test_setup(draws_a_damaged_area, setup),
        cmocka_unit_test_setup(draws_architectural_pebs, setup),
        cmocka_unit_test_setup(explains, setup),
        cmocka_unit_test(marks),
        cmocka_unit_test_setup(knows_the_layout, setup),
        cmocka_unit_test_setup(reads_batches, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
