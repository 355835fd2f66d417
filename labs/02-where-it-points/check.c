/* SPDX-License-Identifier: MIT */
/* Lab 2: the check. Each function is compared with what the check knows: the path, and where the interrupts came. */
#include "labs/check.h"

#include "kernel/lib/string.h"
#include "labs/machine/sample.h"
#include "task.h"

#define PEBS_SECTION   "SDM vol. 3B, \"Processor Event Based Sampling (PEBS)\""
#define FORMAT_SECTION "SDM vol. 3B, \"PEBS Record Format\""
#define GROUPS_SECTION "SDM vol. 3B, \"Adaptive PEBS\""
#define COUNT_SECTION  "SDM vol. 3B, \"Architectural Performance Monitoring\""
#define LVT_SECTION    "SDM vol. 3A, \"Local Vector Table\""

#define PMI_COUNTER (2 + (unsigned)(lab_seed() / 4 % 2))
#define ROUNDS      (4 - (unsigned)(lab_seed() / 4 % 3))
#define BEYOND      100000u /* a period that no run reaches */

lab_program lab_program_2;                        /* program.asm, and the next two */
extern const uint64_t *const lab_path_2_rounds[]; /* [n]: where the last n rounds begin */
extern const uint64_t lab_path_2_end[];

const char lab_title[] = "2 Where does it point?";

/* How PEBS counts retired instructions on a processor. */
struct way {
    unsigned counter;
    uint64_t event;
    const char *name;
};

struct range {
    int32_t least, most;
};

static struct lab_path path;

/* Returns how many ways there are for records of this format. */
static uint32_t find_ways(unsigned format, struct way way[2])
{
    if (format == 1)
        way[0] = (struct way){1, ia32_perfevtsel(0xC0, 1), "PMC1"}; /* INST_RETIRED.ANY_P */
    else if (format < 4)
        way[0] = (struct way){1, ia32_perfevtsel(0xC0, 1), "PMC1 (PDIST)"}; /* INST_RETIRED.PREC_DIST */
    else
        way[0] = (struct way){DS_COUNTER_FIXED, 0, "fixed counter 0 (PDIST)"};
    way[1] = (struct way){1, ia32_perfevtsel(0xC0, 0), "PMC1"}; /* INST_RETIRED.ANY_P */
    return format < 4 ? 1 : 2;
}

/* The record of a run of the program in which the counter overflows after `period` instructions. */
static const uint8_t *record_of(const struct way *way, uint64_t period, uint64_t groups)
{
    const struct lab_sample sample = {way->counter, way->event, period, groups, false};
    lab_sample_begin(&sample);
    if (lab_run(lab_program_2, ROUNDS, DS_BIT(way->counter)) != 0)
        lab_fail("run", "The check itself cannot run here.", COUNT_SECTION, "there is no %s", way->name);
    const uint8_t *record = lab_sample_end(&sample);
    if (!record)
        lab_fail("none", "The check's own sampling does not work here.", PEBS_SECTION,
                 "no record of %s with period %lu", way->name, (unsigned long)period);
    return record;
}

/* An address of the program as people read it: an offset in it. */
static long offset(uint64_t address)
{
    return (long)(address - (uintptr_t)lab_program_2);
}

/* An address that is not in the program. */
static uint64_t outside(void)
{
    return (uintptr_t)lab_program_2 + 4096;
}

static struct lab_place read_truly(unsigned format, const uint8_t *record)
{
    if (format < 4)
        return (struct lab_place){format < 2 ? 0 : ((const struct ds_pebs_fmt2 *)record)->eventing_ip,
                                  ((const struct ds_pebs_fmt0 *)record)->rip};
    const struct ds_pebs_basic *basic = (const void *)record;
    const bool memory = ds_pebs_head_groups(basic->head) & MSR_PEBS_DATA_CFG_MEMINFO;
    const uint8_t *gpr = record + sizeof *basic + (memory ? sizeof(struct ds_pebs_meminfo) : 0);
    return (struct lab_place){basic->eventing_ip, ((const struct ds_pebs_gpr *)gpr)->rip};
}

static void check_place(unsigned format, const uint8_t *record, uint64_t groups)
{
    const struct lab_place right = read_truly(format, record), given = lab_read_record(format, record);
    if (given.eventing_ip && format < 2)
        lab_fail("no-eventing-ip",
                 "Records of format 0 and 1 have no EventingIP. Do not make one up: what RIP minus something is, "
                 "nobody knows.",
                 FORMAT_SECTION, "eventing_ip is 0x%lx for a record of format %u; expected 0",
                 (unsigned long)given.eventing_ip, format);
    if (given.eventing_ip != right.eventing_ip && given.eventing_ip == right.rip)
        lab_fail("rip-is-next",
                 "RIP is where the program goes on after the instruction of the event. The record has another field "
                 "for the address of that instruction itself.",
                 FORMAT_SECTION, "eventing_ip is 0x%lx, which is the record's RIP; expected 0x%lx",
                 (unsigned long)given.eventing_ip, (unsigned long)right.eventing_ip);
    if (given.eventing_ip != right.eventing_ip)
        lab_fail("eventing-ip",
                 "EventingIP is the address of the instruction of the event. In format 2 and 3 it is at offset B0H, "
                 "eventing_ip of struct ds_pebs_fmt2; in format 4 it is in the basic group, eventing_ip of struct "
                 "ds_pebs_basic.",
                 FORMAT_SECTION, "eventing_ip is 0x%lx; the record of format %u says 0x%lx",
                 (unsigned long)given.eventing_ip, format, (unsigned long)right.eventing_ip);
    if (given.rip != right.rip && groups & MSR_PEBS_DATA_CFG_MEMINFO)
        lab_fail(
            "groups",
            "Groups follow each other without gaps, in the order of their bits. Where the GPR group begins depends "
            "on the groups before it, which the head of each record names.",
            GROUPS_SECTION, "rip is 0x%lx; the record, whose head is 0x%lx, says 0x%lx", (unsigned long)given.rip,
            (unsigned long)((const struct ds_pebs_basic *)(const void *)record)->head, (unsigned long)right.rip);
    if (given.rip != right.rip)
        lab_fail("rip",
                 "RIP is among the registers of the record: with formats 0 to 3 at its beginning, with format 4 in the "
                 "GPR group.",
                 FORMAT_SECTION, "rip is 0x%lx; the record of format %u says 0x%lx", (unsigned long)given.rip, format,
                 (unsigned long)right.rip);
}

/* A record for each instruction of the path that can be the event, in each way that this processor has. */
static void check_records(unsigned format, uint64_t groups)
{
    struct way ways[2];
    const uint32_t count = find_ways(format, ways);
    for (uint32_t w = 0; w < count; w++) {
        for (uint32_t period = 2; period < path.count; period++)
            check_place(format, record_of(&ways[w], period, groups), groups);
        lab_pass("records", "both addresses of %u records of format %u, %s", path.count - 2, format, ways[w].name);
    }
}

static uint64_t before_truly(uint64_t rip)
{
    uint64_t before = 0;
    for (uint32_t i = 1; i < path.count; i++)
        if (path.instruction[i] == rip) {
            if (before && before != path.instruction[i - 1])
                return 0;
            before = path.instruction[i - 1];
        }
    return before;
}

static void check_before(void)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < path.count; i++) {
        const uint64_t rip = path.instruction[i], right = before_truly(rip), given = lab_before(&path, rip);
        if (given != right && !right)
            lab_fail("several",
                     "The program comes to this instruction from more than one, or it begins there. Then RIP does not "
                     "tell which instruction the record is of. Say so: return 0, and do not guess.",
                     PEBS_SECTION,
                     "lab_before says 0x%lx, offset %ld of the program, for RIP at offset %ld; expected no address: 0",
                     (unsigned long)given, offset(given), offset(rip));
        if (given != right)
            lab_fail("before",
                     "What was executed before an instruction is not what lies before it in memory: a call, a return "
                     "or a jump may lead there. Look it up in the path.",
                     PEBS_SECTION, "lab_before says 0x%lx for RIP at offset %ld; expected offset %ld",
                     (unsigned long)given, offset(rip), offset(right));
        known += given != 0;
    }
    if (lab_before(&path, outside()))
        lab_fail("several", "Return 0 for an address that the path does not have.", PEBS_SECTION,
                 "lab_before says 0x%lx for an address outside the program; expected 0",
                 (unsigned long)lab_before(&path, outside()));
    lab_pass("before", "RIP alone tells the instruction at %u of %u places", known, path.count);
}

static int32_t skid_truly(uint32_t event, uint64_t address)
{
    for (uint32_t i = event; i < path.count; i++)
        if (path.instruction[i] == address)
            return (int32_t)(i - event);
    return -1;
}

static void check_skid(void)
{
    for (uint32_t event = 0; event < path.count; event++)
        for (uint32_t i = 0; i <= path.count; i++) {
            const uint64_t address = i < path.count ? path.instruction[i] : outside();
            const int32_t right = skid_truly(event, address), given = lab_skid(&path, event, address);
            if (given != right)
                lab_fail("skid",
                         "Skid is counted in instructions that are executed, along the path from the event on, and not "
                         "in bytes. In a loop, the first time counts. -1 if the path does not come there any more.",
                         PEBS_SECTION, "lab_skid says %d from number %u, at offset %ld, to offset %ld; expected %d",
                         given, event, offset(path.instruction[event]), offset(address), right);
        }
    lab_pass("skid", "the distance of any two of %u instructions", path.count);
}

static void check_pmi_settings(uint64_t event, uint64_t period)
{
    const uint64_t select = lab_msr(IA32_PERFEVTSEL0 + PMI_COUNTER), count = lab_msr(IA32_PMC0 + PMI_COUNTER);
    const uint64_t start = -period & (DS_BIT(48) - 1);
    const uint32_t lvtpc = lab_lvtpc_read();
    if ((select & 0xFFFF) != event || !(select & IA32_PERFEVTSEL_EN) || !(select & IA32_PERFEVTSEL_OS))
        lab_fail("select", "The counter needs its event, a ring to count in (OS: ring 0), and EN.", COUNT_SECTION,
                 "IA32_PERFEVTSEL%u is 0x%lx; expected event 0x%lx, with OS and EN", PMI_COUNTER, (unsigned long)select,
                 (unsigned long)event);
    if (!(select & IA32_PERFEVTSEL_INT))
        lab_fail("int", "Without PEBS, an overflow only sets a status bit unless the counter is told to interrupt.",
                 COUNT_SECTION, "IA32_PERFEVTSEL%u is 0x%lx: INT (bit 20) is clear", PMI_COUNTER,
                 (unsigned long)select);
    if (count != start)
        lab_fail("period", "The counter counts up and overflows to 0: it starts at -period.", COUNT_SECTION,
                 "IA32_PMC%u is 0x%lx; expected 0x%lx, which is -%lu in 48 bits", PMI_COUNTER, (unsigned long)count,
                 (unsigned long)start, (unsigned long)period);
    if (lvtpc & LVTPC_MASKED || (lvtpc & LVTPC_VECTOR) != LAB_PMI_VECTOR)
        lab_fail("lvtpc",
                 "The local APIC decides whether the interrupt is delivered, and with which vector. It masks LVTPC "
                 "by itself at each interrupt, so this is due before every run.",
                 LVT_SECTION, "LVTPC is 0x%x; expected vector 0x%x, not masked", lvtpc, LAB_PMI_VECTOR);
}

static void check_pmi_stopped(void)
{
    const uint64_t select = lab_msr(IA32_PERFEVTSEL0 + PMI_COUNTER), count = lab_msr(IA32_PMC0 + PMI_COUNTER);
    if (select || count || !(lab_lvtpc_read() & LVTPC_MASKED))
        lab_fail("stop", "Leave nothing behind: a counter that runs on interrupts again.", COUNT_SECTION,
                 "after lab_pmi_stop IA32_PERFEVTSEL%u is 0x%lx, IA32_PMC%u 0x%lx, LVTPC 0x%x; expected 0, 0, and "
                 "LVTPC masked (bit 16)",
                 PMI_COUNTER, (unsigned long)select, PMI_COUNTER, (unsigned long)count, lab_lvtpc_read());
}

/* Returns the address; 0: none, as it should be. */
static uint64_t check_pmi(uint64_t period)
{
    static uint64_t earlier;     /* the address of the run before */
    const uint64_t event = 0xC0; /* INST_RETIRED.ANY_P */
    const uint32_t before = lab_pmis();
    if (lab_pmi_start(PMI_COUNTER, event, period) != 0)
        lab_fail("gp", "WRMSR raises #GP where a register does not exist, or a reserved bit is set.", COUNT_SECTION,
                 "lab_pmi_start returns an error");
    check_pmi_settings(event, period);
    if (lab_run(lab_program_2, ROUNDS, DS_BIT(PMI_COUNTER)) != 0)
        lab_fail("run", "The check itself cannot run here.", COUNT_SECTION, "the counter does not exist");
    const uint64_t given = lab_pmi_stop(PMI_COUNTER);
    const uint64_t right = lab_pmis() != before ? lab_pmi_address() : 0;
    if (given && !right)
        lab_fail("stale", "No interrupt has come in this run, so there is no address. An earlier run left it.",
                 COUNT_SECTION, "lab_pmi_stop says 0x%lx with period %lu; expected 0", (unsigned long)given,
                 (unsigned long)period);
    if (given != right && given && given == earlier)
        lab_fail("stale",
                 "An interrupt has come in this run, and the address is that of an earlier one. Your handler has to "
                 "keep frame->rip each time.",
                 COUNT_SECTION, "lab_pmi_stop says 0x%lx with period %lu, as in the run before; expected 0x%lx",
                 (unsigned long)given, (unsigned long)period, (unsigned long)right);
    if (given != right)
        lab_fail("pmi",
                 "Give your handler to lab_on_pmi. It gets the frame of the interrupt: frame->rip is where the "
                 "program goes on.",
                 "SDM vol. 3A, \"64-Bit Mode Stack Frame\"",
                 "lab_pmi_stop says 0x%lx with period %lu; the interrupt came at 0x%lx, offset %ld",
                 (unsigned long)given, (unsigned long)period, (unsigned long)right, offset(right));
    check_pmi_stopped();
    earlier = given;
    return given;
}

static void check_pmis(void)
{
    uint32_t pmis = 0;
    for (uint32_t period = 2; period < path.count; period++)
        pmis += check_pmi(period) != 0;
    (void)check_pmi(BEYOND);
    lab_pass("pmi", "the addresses of %u interrupts", pmis);
}

/* ---- the measurement: with the student's functions, once they are right */

static void widen(struct range *r, uint64_t address, uint32_t event)
{
    const int32_t skid = lab_skid(&path, event, address);
    if (skid < 0)
        return; /* in the check's own code, after the program */
    r->least = r->most < 0 || skid < r->least ? skid : r->least;
    r->most = skid > r->most ? skid : r->most;
}

static void log_range(const char *what, const char *of, struct range r)
{
    if (r.most < 0)
        lab_log("skid of %s, %s: unknown, no record has the address", what, of);
    else
        lab_log("skid of %s, %s: %d to %d instructions", what, of, r.least, r.most);
}

static void measure(unsigned format)
{
    struct way ways[2];
    const uint32_t count = find_ways(format, ways);
    struct range pmi = {-1, -1};
    for (uint32_t w = 0; w < count; w++) {
        struct range eventing = {-1, -1}, rip = {-1, -1};
        for (uint32_t period = 2; period < path.count; period++) {
            const uint8_t *record = record_of(&ways[w], period, format < 4 ? 0 : MSR_PEBS_DATA_CFG_GPR);
            const struct lab_place place = lab_read_record(format, record);
            const uint32_t event = period - 2; /* instruction 1 is the RET that enters the program */
            widen(&eventing, place.eventing_ip, event);
            widen(&rip, place.rip, event);
        }
        log_range("EventingIP", ways[w].name, eventing);
        log_range("RIP", ways[w].name, rip);
    }
    for (uint32_t period = 2; period < path.count; period++)
        widen(&pmi, check_pmi(period), period - 2);
    log_range("the interrupt", "a counter without PEBS", pmi);
}

/* The path between two instructions that it does not have: who reads beyond its ends finds them. */
static struct lab_path path_between(uint64_t address)
{
    const uint64_t *rounds = lab_path_2_rounds[ROUNDS];
    const uint32_t count = 1 + (uint32_t)(lab_path_2_end - rounds);
    uint64_t *words = lab_need_memory((count + 2) * sizeof *words);
    words[0] = words[count + 1] = address;
    words[1] = (uintptr_t)lab_program_2;
    memcpy(words + 2, rounds, (count - 1) * sizeof *words);
    return (struct lab_path){words + 1, count};
}

void lab_check(void)
{
    const unsigned format = lab_format();
    path = path_between(outside());
    check_records(format, format < 4 ? 0 : MSR_PEBS_DATA_CFG_GPR);
    if (format >= 4)
        check_records(format, MSR_PEBS_DATA_CFG_GPR | MSR_PEBS_DATA_CFG_MEMINFO | MSR_PEBS_DATA_CFG_XMM);
    check_before();
    check_skid();
    check_pmis();
    measure(format);
}
