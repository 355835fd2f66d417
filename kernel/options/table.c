/* SPDX-License-Identifier: MIT */
/* The option table. Also compiled on the host (tools/options, tests). */
#include "kernel/options/row.h"

#include "boot/save/save_format.h"
#include "ds/ds.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/session.h"

#define WORKLOAD(name) "|" #name
static const char workloads[] =
#include "kernel/options/workloads.h"
    ;

static const char model[] = "ds=auto|soft", processor[] = "ds=auto|hw";
static const char debug_store[] = "ds!=off", branches[] = "bts!=off", sampling[] = "ds!=off,pebs!=none";
static const char by_rules[] = "spinlock.every=0";

#define AT(field) offsetof(struct kopt, field), sizeof kopt.field

#define SESSION_AT(n) AT(session[(n) - 1])
#define OTHER_SESSION(n) \
    { "session." #n, "off", "another session beside session 1; off: none", SESSION_AT(n), SESSION, 0, 0, NULL, NULL }

static const char presets[] = "names of ds_model_presets"; /* stands for them: see get_row */

static const struct kopt_option table[] = {
    {"ds", "auto",
     "Debug Store backend: hw (CPUID and MSRs), soft (model, single-stepping), auto: hw where it is there, else soft",
     AT(ds), WORD, 0, 0, "auto|hw|soft|off", NULL},
    {"ds.preset", "icelake", "processor the soft backend's model pretends to be", AT(ds_preset), TEXT, 0, 0, presets,
     model},
    {"ds.force", "0",
     "1: take counters and a DS area that were found in use, by firmware perhaps; 0: report them and leave them alone",
     AT(ds_force), NUMBER32, 0, 1, NULL, processor},
    {"ds.throttle", "0",
     "PMIs of a CPU within a timer tick after which its counters and branch tracing stand still for a tick; "
     "0: on hw 100, on soft none, which cannot hang",
     AT(ds_throttle), NUMBER32, 0, 100000, NULL, debug_store},
    {"ds.log", "0",
     "1: the soft backend's model writes down what it does, step by step, for 'cairn ds --life' (hw: nobody sees it)",
     AT(ds_log), NUMBER32, 0, 1, NULL, "ds=auto|soft,pebs!=none"},
    {"pebs", "INST_RETIRED.ANY:5003",
     "events to sample: EVENT:PERIOD[:ldlat=N|:frontend=N][:u|k|uk][:plain][,...], ldlat is load latency's threshold "
     "in core cycles; or none: branches alone, with bts=",
     AT(pebs), TEXT, 0, 0, NULL, debug_store},
    {"pebs.atom", "same",
     "on a hybrid, what its efficient cores sample, written as in pebs=: same, as the others, or events of their own, "
     "or none: no PEBS on them",
     AT(pebs_atom), TEXT, 0, 0, NULL, sampling},
    {"pebs.cpus", "all",
     "on a hybrid, which CPUs have PEBS: all, core: the performance cores, atom: the efficient ones; threads run on "
     "all",
     AT(pebs_cpus), WORD, 0, 0, "all|core|atom", sampling},
    {"pebs.later", "none",
     "periods of the events of pebs=, in their order, from the middle of the run (half of switches=) on: none, they "
     "stay, or PERIOD[,...]; those of pebs.atom= stay; not with workload=known or probe, which have the counters",
     AT(pebs_later), TEXT, 0, 0, NULL, "ds!=off,pebs!=none,workload!=known,workload!=probe"},
    {"pebs.groups", "gpr",
     "record groups beside the basic one, from format 4 on: none, or some of gpr, mem, xmm, lbr (lbr:8: the newest "
     "8 of 32 branches) and counters (format 6), as in gpr,lbr:8; formats 0 to 3 have one layout, whose "
     "registers none does not leave out",
     AT(pebs_groups), TEXT, 0, 0, NULL, sampling},
    {"pebs.records", "64",
     "size of each CPU's PEBS buffer in records; on processors of format 0 what fits into one page, 27, is the most",
     AT(pebs_records), NUMBER32, 1, 4096, NULL, sampling},
    {"pebs.threshold", "48", "records until the PMI drains the buffer, at most pebs.records", AT(pebs_threshold),
     NUMBER32, 1, 4096, NULL, sampling},
    {"bts", "off",
     "branch tracing, beside PEBS or with pebs=none: circular keeps the newest records of each time a thread runs, "
     "interrupt all of them",
     AT(bts), WORD, 0, 0, "off|circular|interrupt", debug_store},
    {"bts.rings", "uk", "whose branches: uk all, u the programs' in ring 3, k the kernel's", AT(bts_rings), WORD, 0, 0,
     "uk|u|k", branches},
    {"bts.records", "1024", "size of each CPU's BTS buffer in records", AT(bts_records), NUMBER32, 1, 16384, NULL,
     branches},
    {"session.1", "auto:qpc:sequential",
     "a trace session. GROUPS of events joined by '+': auto (compact; full where PEBS records have no TSC, formats 0 "
     "to 2, and PebsIndex at each switch is all there is to tell whose they are, and where session.pmc has its "
     "counters on 0524H), compact (0525H), full (0524H), "
     "both (as compact+full does; the values 0x20000004+0x20000100 mean compact alone, as in Windows), process, "
     "thread, loader, dispatcher, priority, interrupt, dpc, profile, pmc_profile, spinlock, mark, cpu_config, "
     "no_sysconfig, none, or a group's value (0x20000100). CLOCK: qpc (10 MHz), system (100 ns since "
     "1601) or tsc (cycles). MODE: sequential or circular. KIB, BUFFERS: as trace.buffer_kib, trace.buffers, for "
     "this session",
     SESSION_AT(1), SESSION, 0, 0, NULL, NULL},
    OTHER_SESSION(2),
    OTHER_SESSION(3),
    OTHER_SESSION(4),
    OTHER_SESSION(5),
    OTHER_SESSION(6),
    OTHER_SESSION(7),
    OTHER_SESSION(8),
    {"session.restarts", "0",
     "stop and start sessions 2 and up so many times, one after another, in the middle of the run",
     AT(session_restarts), NUMBER32, 0, 100000, NULL, NULL},
    {"session.pmc", "none",
     "performance counters whose values events carry (PMC items): up to 4 of InstructionRetired, "
     "BranchInstructionRetired, BranchInstructions, UnhaltedCoreCycles, TotalCycles, with commas",
     AT(session_pmc), TEXT, 0, 0, NULL, sampling},
    {"session.pmc.hooks", "0x0524",
     "which events carry them, of every session that writes one of them: up to 4 hook IDs, with commas, of 0x0524 "
     "('full' or 'both'), 0x0529, 0x0530, 0x0531, 0x0532, 0x0F22, 0x0F2E, 0x0F2F, 0x0F43, 0x0F44, 0x0F45",
     AT(session_pmc_hooks), TEXT, 0, 0, NULL, "ds!=off,pebs!=none,session.pmc!=none"},
    {"trace.buffers", "256",
     "trace buffers of a session, all CPUs together; at least one a CPU (circular: and one more)", AT(trace_buffers),
     NUMBER32, 1, 65536, NULL, NULL},
    {"trace.buffer_kib", "64", "size of a trace buffer in KiB", AT(trace_buffer_kib), NUMBER32, 4, 1024, NULL, NULL},
    {"spinlock.spin_threshold", "1",
     "of a session with spinlock: spins from which on a contended acquisition may become an event",
     AT(spinlock.spin_threshold), NUMBER32, TRACE_SPINLOCK_SPIN_THRESHOLD, UINT32_MAX, NULL, by_rules},
    {"spinlock.contention_sample_rate", "1", "of those, one of so many does, on each CPU",
     AT(spinlock.contention_sample_rate), NUMBER32, TRACE_SPINLOCK_CONTENTION_SAMPLE_RATE, UINT32_MAX, NULL, by_rules},
    {"spinlock.acquire_sample_rate", "1000", "of the uncontended acquisitions, one of so many does, on each CPU",
     AT(spinlock.acquire_sample_rate), NUMBER32, TRACE_SPINLOCK_ACQUIRE_SAMPLE_RATE, UINT32_MAX, NULL, by_rules},
    {"spinlock.hold_threshold", "1000000",
     "and so does each lock held for more than so many TSC cycles: 0 (off) or at least 1000000",
     AT(spinlock.hold_threshold), NUMBER32, 0, UINT32_MAX, NULL, by_rules},
    {"spinlock.every", "0", "1: every release is an event, whatever the others say; Windows has no such thing",
     AT(spinlock.every), WORD8, 0, 0, "0|1", NULL},
    {"dump", "end",
     "when the trace goes to the serial port: end, or live: full buffers of sequential sessions while the run goes "
     "on, by a thread of the lowest priority, to be used again; what is left then, at the end",
     AT(dump), WORD, 0, 0, "end|live", "serial!=none"},
    {"dump.pace", "1",
     "1: while the run goes on, no faster than the baud rate of serial=, though the port may take more (an emulator's "
     "does); 0: as fast as it takes it",
     AT(dump_pace), NUMBER32, 0, 1, NULL, "dump=live"},
    {"workload", "mix", "what the threads do (docs/how-to/workloads.md)", AT(workload), TEXT, 0, 0, workloads + 1,
     NULL},
    {"switches", "20000", "end after this many context switches, all CPUs together", AT(switches), NUMBER64, 1,
     UINT64_C(1000000000), NULL, NULL},
    {"seconds", "60", "end after this many seconds at the latest", AT(seconds), NUMBER32, 1, 86400, NULL, NULL},
    {"seed", "1", "seed of the workload's random numbers", AT(seed), NUMBER64, 0, UINT64_MAX, NULL, NULL},
    {"tick", "1000", "timer tick in microseconds", AT(tick_us), NUMBER32, 100, 100000, NULL, NULL},
    {"cpus", "256", "use at most this many CPUs (of a hybrid, which of them sample: pebs.cpus=)", AT(cpus), NUMBER32, 1,
     MAX_CPUS, NULL, NULL},
    {"x2apic", "auto",
     "mode of the local APICs: auto: as the firmware left it, x2APIC also where APIC IDs from 255 on need it; on: "
     "x2APIC, where SMM code of old firmware may hang; off: xAPIC, which leaves out APIC IDs from 255 on",
     AT(x2apic), WORD, 0, 0, "auto|on|off", NULL},
    {"truth", "0", "1: also record, outside the session, what really happened, for 'cairn check'", AT(truth), NUMBER32,
     0, 1, NULL, NULL},
    {"serial", "auto",
     "console and dump: auto (what ACPI's SPCR names, else DBG2, else the first that is there of COM1 to COM4, else "
     "of PCI), com1 to com4, an I/O port (0x3f8), mmio:ADDRESS[:STRIDE[:WIDTH]] (bytes from register to register, and "
     "of an access), pci (the first) or pci:BUS:DEVICE.FUNCTION as lspci writes it, or none; the baud rate, as near "
     "as the port's clock gives it (115200, or with auto SPCR's); that clock in Hz, where it is not 1843200",
     AT(serial), SERIAL, 0, 0, NULL, NULL},
    {"save", "off",
     "esp: all that goes to the serial port, there or not, is kept in memory, too, the machine is reset, and its next "
     "start makes \\cairn-NNN.log of it on the volume it boots from, and switches off (docs/explain/boot.md); end= is "
     "reboot",
     AT(save), WORD, 0, 0, "off|esp", NULL},
    {"save.mib", "64", "memory for that, in MiB", AT(save_mib), NUMBER32, 1, SAVE_MIB_MAX, NULL, "save=esp"},
    {"screen", "on",
     "on: text goes to the screen as well, where the firmware gives a framebuffer; off: it stays as the loader left "
     "it",
     AT(screen), WORD, 0, 0, "off|on", NULL},
    {"end", "halt", "what to do when all is said: halt, reboot, poweroff, or exit (QEMU's debug-exit port)", AT(end),
     WORD, 0, 0, "halt|exit|reboot|poweroff", NULL},
    {"panic", "none",
     "break the kernel on purpose in the middle of the run: now, null, stack (overflow), double (fault)", AT(panic),
     WORD, 0, 0, "none|now|null|stack|double", NULL},
    {"tsc.align", "0",
     "wait at start until the TSC is a multiple of 2^N: equal runs under QEMU's -icount, idle CPUs do not halt",
     AT(tsc_align), NUMBER32, 0, 40, NULL, NULL},
};
#define FIRST_POLICY 2u /* ds.policy.NAME, a row for each of ds_model_policies, come after ds.preset */
#define OPTIONS      (sizeof table / sizeof table[0] + DS_MODEL_POLICIES)

_Static_assert(OPTIONS <= 64, "a bit for each option: kernel/options/parse.c");

static void add_word(struct kopt_row *r, const char *word)
{
    size_t n = strlen(r->words);
    snprintf(r->words + n, sizeof r->words - n, "%s%s", n ? "|" : "", word);
}

/* As it stands in the table, but for what the model's own tables say. */
const struct kopt_option *kopt_row_get(size_t i, struct kopt_row *r)
{
    if (i >= OPTIONS)
        return NULL;
    r->words[0] = '\0';
    if (i - FIRST_POLICY >= DS_MODEL_POLICIES) {
        const struct kopt_option *o = &table[i < FIRST_POLICY ? i : i - DS_MODEL_POLICIES];
        if (o->words != presets)
            return o;
        r->option = *o;
        for (size_t p = 0; p < DS_MODEL_PRESETS; p++)
            add_word(r, ds_model_presets[p].name);
    } else {
        const struct ds_model_policy_row *p = &ds_model_policies[i - FIRST_POLICY];
        snprintf(r->name, sizeof r->name, "ds.policy.%s", p->name);
        for (size_t v = 0; p->values[v]; v++)
            add_word(r, p->values[v]);
        r->option = (struct kopt_option){.name = r->name,
                                    .standard = p->values[0],
                                    .text = p->question,
                                    .offset = (uint16_t)(offsetof(struct kopt, ds_policy) + p->field),
                                    .kind = WORD8,
                                    .needs = model};
    }
    r->option.words = r->words;
    return &r->option;
}

void *kopt_option_field(const struct kopt_option *o)
{
    return (char *)&kopt + o->offset;
}

size_t kopt_row_find(const char *name, size_t size)
{
    struct kopt_row row;
    const struct kopt_option *o;
    size_t i = 0;
    for (; (o = kopt_row_get(i, &row)); i++)
        if (strlen(o->name) == size && memcmp(o->name, name, size) == 0)
            break;
    return i;
}
