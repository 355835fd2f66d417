/* SPDX-License-Identifier: MIT */
/*
 * The thirteen guided scenes. Each part of a scene has:
 *   set    other settings, where it does not go on from the part before; it begins at step 0 then
 *   go     how to get there: "+N" steps, or marks to run to, one after the other
 *   say    what to look at
 *   ask    a question, perhaps, with
 *   answer what is so, and
 *   proof  how the tests ask the machine: `set` and `go` as above, from here on, and what `holds` then
 *   holds  numbers of the state that are so there. The tests compare them.
 */
"use strict";

const LOOP = "program=set:3,load,add,store,dec,jnz:1,call:8,jmp:0,nop,ret";
const ICELAKE = `cpu=icelake;pmc0=instructions:5:u;${LOOP}`;
const TWINS = "cpu=icelake;program=add,nop,nop,nop";
const LOADS_AND_STORES = "pmc0=loads:2:u;pmc1=stores:2:u;program=load,store,load,store,load,nop,nop,store";
const LOADS = `pmc0=loads:2:u;${LOOP}`;
const CALLS = "cpu=icelake;pmc0=off;program=call:3,nop,jmp:0,add,ret";
const COUGAR = `cpu=pantherlake;pmc0=off;pmc2=instructions:5:u;${LOOP}`;
const SYSCALLS = "cpu=icelake;program=add,syscall,nop";

const scenes = [
    {
        title: "Arming: a record each period + 1 events",
        set: ICELAKE,
        parts: [
            {
                say: "IA32_PMC0 counts instructions. It starts at −5, so the fifth instruction makes it " +
                     "overflow.",
                ask: "Which instruction does the first record describe?",
                answer: "The sixth, JNZ. The fifth makes the counter overflow, and that only arms PEBS: the next " +
                        "event is recorded.",
                proof: { go: ["record"], holds: { step: 6, records: 1 } },
                holds: { step: 0, records: 0 },
            }, {
                go: ["overflow"],
                say: "The fifth instruction takes the counter to 0: it overflows. There is no record yet. The " +
                     "overflow only arms PEBS.",
                holds: { step: 5, records: 0, armed: 1, global_status: 1 },
            }, {
                go: ["record"],
                say: "The sixth instruction is recorded. The processor writes the record, reloads the counter and " +
                     "clears the status bit. The ● in the program marks the recorded instruction.",
                holds: { step: 6, records: 1, armed: 0, global_status: 0 },
            }, {
                go: ["record"],
                say: "The next record comes six instructions later, not five. The reload overwrites the count of " +
                     "the instruction that was recorded.",
                ask: "Which period gives one record for each 10 instructions?",
                answer: "9, because a record comes each period + 1 instructions.",
                proof: { set: ICELAKE.replace(":5:", ":9:"),
                         go: ["record", "record"], holds: { step: 20, records: 2 } },
                holds: { step: 12, records: 2 },
            },
        ],
    }, {
        title: "Precise distribution: a record each period",
        set: `cpu=icelake;pmc0=off;fixed0=5:u;${LOOP}`,
        parts: [
            {
                say: "On Ice Lake the fixed counter IA32_FIXED_CTR0 has precise distribution (PDIST).",
                ask: "When does the first record come now?",
                answer: "In step 5: the instruction that makes the counter overflow is recorded itself.",
                proof: { go: ["record"], holds: { step: 5, records: 1 } },
                holds: { records: 0 },
            }, {
                go: ["record"],
                say: "The instruction that makes the counter overflow is recorded itself, in step 5. The counter " +
                     "does not wait for another event.",
                holds: { step: 5, records: 1, armed: 0 },
            }, {
                go: ["record"],
                say: "The next record comes five instructions later. With PDIST the period is exact.",
                holds: { step: 10, records: 2 },
            }, {
                set: `cpu=sapphirerapids;pmc0=stores:2:u;pmc1=stores:2:u;${LOOP}`,
                go: ["record"],
                say: "From Golden Cove on, IA32_PMC0 has PDIST. Both counters have counted two stores. PMC0 " +
                     "records the second store. PMC1 is armed and waits for the third.",
                holds: { step: 9, records: 1, armed: 2 },
            },
        ],
    }, {
        title: "The threshold, the PMI and the drain",
        set: `${ICELAKE};records=6;threshold=4`,
        parts: [
            {
                go: ["record", "record", "record"],
                say: "The buffer holds three records. PebsIndex is below the threshold, so there is no interrupt: " +
                     "PEBS writes records without one.",
                holds: { records: 3, pmis: 0 },
            }, {
                go: ["pmi"],
                say: "The fourth record reaches the threshold. The processor sets OvfBuf in GLOBAL_STATUS. LVTPC " +
                     "raises the PMI and masks itself.",
                holds: { records: 4, pmis: 1, lvtpc: 0x100FE },
            }, {
                go: ["+1"],
                say: "The processor takes the interrupt before the next instruction. Press s to follow the " +
                     "handler. Each step is one that a driver makes.",
                holds: { in_handler: 2, cpl: 0 },
            }, {
                go: ["drain"],
                say: "This is the drain. The handler copies the records and sets PebsIndex back to the base.",
                ask: "Why does the handler stop the counters first?",
                answer: "While they count, the processor may write a record between the handler's look at " +
                        "PebsIndex and its write. That record would be lost.",
                proof: { holds: { global_ctrl: 0, drains: 1 } },
                holds: { drains: 1, drained: 4, records: 4 },
            }, {
                go: ["+3"],
                say: "The handler writes LVTPC and turns the counters on. IRETQ returns to the program.",
                holds: { in_handler: 0, lvtpc: 0xFE, cpl: 3 },
            },
        ],
    }, {
        title: "A full buffer drops records in silence",
        set: `${ICELAKE};records=3;threshold=0`,
        parts: [
            {
                go: ["record", "record", "record"],
                say: "The buffer has room for three records. There is no threshold, so nobody empties it.",
                ask: "What happens to the fourth record?",
                answer: "The processor drops it: there is no room below the absolute maximum.",
                proof: { go: ["drop"], holds: { records: 3, dropped: 1 } },
                holds: { records: 3, dropped: 0 },
            }, {
                go: ["drop"],
                say: "The fourth record does not fit below the absolute maximum, so the processor drops it. No " +
                     "register shows that. Only this model counts it.",
                holds: { records: 3, dropped: 1, global_status: 0, pmis: 0 },
            }, {
                go: ["drop"],
                say: "Here the counter is reloaded as after a stored record, so the next drop comes six " +
                     "instructions later. No manual says whether that is so: it is a policy of the model.",
                holds: { dropped: 2, step: 30 },
            }, {
                set: `${ICELAKE};records=3;threshold=0;policy.drop_reload=no`,
                go: ["drop", "drop"],
                say: "With the policy drop_reload=no the counter stays overflowed and armed. Each event tries " +
                     "again.",
                ask: "How can a program on a real machine find out which of the two is true?",
                answer: "It fills a small buffer and then reads the counter. Near −period: it was reloaded. Near " +
                        "0, and its bit of GLOBAL_STATUS set: it was not.",
                proof: { set: `${ICELAKE};records=3;threshold=0`,
                         go: ["drop", "+1"], holds: { step: 25, armed: 0, global_status: 0 } },
                holds: { dropped: 2, step: 25, armed: 1, global_status: 1 },
            },
        ],
    }, {
        title: "Two counters, one record",
        set: `${TWINS};pmc0=instructions:4:u;pmc1=instructions:4:u`,
        parts: [
            {
                go: ["overflow"],
                say: "Two counters count the same event with the same period. One instruction makes both overflow, " +
                     "and both are armed.",
                ask: "Does the processor write one record or two?",
                answer: "One, with the bits of both counters.",
                proof: { go: ["record"], holds: { records: 1, armed: 0 } },
                holds: { step: 4, armed: 3, records: 0 },
            }, {
                go: ["record"],
                say: "It writes one record for both. The field “counters” has a bit for each.",
                holds: { records: 1, armed: 0 },
            }, {
                set: `${TWINS};pmc0=instructions:4:u;pmc1=instructions:6:u`,
                go: ["record", "record"],
                say: "With periods of 4 and 6, each counter has its own record, in step 5 and in step 7.",
                holds: { records: 2, step: 7 },
            },
        ],
    }, {
        title: "The bystander: a sample that nobody sees",
        set: `cpu=haswell;${LOADS_AND_STORES}`,
        parts: [
            {
                go: ["overflow", "overflow"],
                say: "This is Haswell, format 2. Both counters are armed. PMC0 waits for a load, PMC1 for a store.",
                ask: "The next instruction is a load. What happens to the sample of PMC1?",
                answer: "It is lost: PMC1 is reloaded with PMC0, and no record names it.",
                proof: { go: ["record"], holds: { records: 1, swallowed: 1, armed: 0 } },
                holds: { armed: 3, records: 0 },
            }, {
                go: ["record"],
                say: "The record describes the load. PMC1 is reloaded too, because its bit of GLOBAL_STATUS was " +
                     "set. No record will show its sample: it is swallowed.",
                holds: { records: 1, swallowed: 1, armed: 0 },
            }, {
                set: `cpu=skylake;${LOADS_AND_STORES}`,
                go: ["record"],
                say: "This is Skylake, format 3. After the same record PMC1 is still armed.",
                holds: { records: 1, swallowed: 0, armed: 2 },
            }, {
                go: ["record"],
                say: "The next store writes the record of PMC1. The policy “bystander” exchanges the two " +
                     "behaviours.",
                holds: { records: 2, swallowed: 0, armed: 0 },
            },
        ],
    }, {
        title: "A record in formats 0 to 6",
        set: `cpu=penryn;pmc0=instructions:5:u;${LOOP}`,
        parts: [
            {
                go: ["record"],
                say: "Format 0 (Penryn) has registers only, 144 bytes. RIP is the address of the next instruction. " +
                     "Software must find out which one was recorded.",
                holds: { format: 0, newest_bytes: 144 },
            }, {
                set: `cpu=nehalem;${LOADS}`,
                go: ["record"],
                say: "Format 1 (Nehalem) adds GLOBAL_STATUS and three words for loads with a long latency. From " +
                     "here on the counter counts loads.",
                holds: { format: 1, newest_bytes: 176 },
            }, {
                set: `cpu=haswell;${LOADS}`,
                go: ["record"],
                say: "Format 2 (Haswell) adds EventingIP, the address of the recorded instruction. The data " +
                     "address is there for each load.",
                holds: { format: 2, newest_bytes: 192 },
            }, {
                set: `cpu=skylake;${LOADS}`,
                go: ["record"],
                say: "Format 3 (Skylake) adds the TSC. The status word now names only the counters that the record " +
                     "is for.",
                holds: { format: 3, newest_bytes: 200 },
            }, {
                set: `cpu=icelake;groups=mem,gpr;${LOADS}`,
                go: ["record"],
                say: "Format 4 (Ice Lake) has groups. Software chooses them in MSR_PEBS_DATA_CFG. The head of the " +
                     "record has its size.",
                holds: { format: 4, newest_bytes: 208 },
            }, {
                set: `cpu=arrowlake;groups=mem,gpr;${LOADS}`,
                go: ["record"],
                say: "Format 5 (Arrow Lake H) has the same record. Its DS area has room for 32 + 16 counters.",
                holds: { format: 5, newest_bytes: 208 },
            }, {
                set: `cpu=lunarlake;groups=mem,cntr;${LOADS}`,
                go: ["record"],
                say: "Format 6 (Lunar Lake) can also record the values of the counters, in the group CNTR.",
                ask: "Which value does the record have for PMC0, and why?",
                answer: "0. PMC0 has precise distribution here, so the load that takes it to 0 is recorded, and " +
                        "the reload comes later.",
                proof: { holds: { step: 7, records: 1, pdist: 1 } },
                holds: { format: 6, newest_bytes: 192 },
            },
        ],
    }, {
        title: "Groups: what a record costs",
        set: `cpu=icelake;groups=none;records=8;threshold=0;${LOADS}`,
        parts: [
            {
                go: ["record"],
                say: "Without a choice the record has the basic group only: 32 bytes.",
                holds: { newest_bytes: 32 },
            }, {
                set: `cpu=icelake;groups=mem;records=8;threshold=0;${LOADS}`,
                go: ["record"],
                say: "MEMINFO adds the data address. Data source and latency are 0, because the model has no " +
                     "caches.",
                holds: { newest_bytes: 64 },
            }, {
                set: `cpu=icelake;groups=gpr,lbr;lbr=4;records=8;threshold=0;${LOADS}`,
                go: ["record"],
                say: "LBR adds the last branches, the newest first. They show how the program came here.",
                holds: { newest_bytes: 272 },
            }, {
                set: `cpu=icelake;groups=mem,gpr,xmm,lbr;lbr=32;records=8;threshold=0;${LOADS}`,
                go: ["record"],
                say: "All groups, with 32 branches, take 1232 bytes.",
                ask: "How many such records fit into 64 KiB?",
                answer: "53: 65536 / 1232 is 53.2, and the processor writes no part of a record.",
                proof: { holds: { newest_bytes: 1232 } },
                holds: { newest_bytes: 1232 },
            }, {
                set: `cpu=icelake;groups=gpr,cntr;${LOADS}`,
                say: "Ice Lake does not have the group CNTR. The write of MSR_PEBS_DATA_CFG raises #GP. Find it in " +
                     "the list of writes.",
                holds: { step: 0, data_cfg: 0, record_bytes: 32 },
            },
        ],
    }, {
        title: "Rings: whose events count",
        set: `${SYSCALLS};pmc0=instructions:4:u`,
        parts: [
            {
                go: ["+2"],
                say: "SYSCALL enters the kernel at CPL 0. The instruction itself retires at CPL 3. The counter has " +
                     "only USR set, and counts it.",
                holds: { cpl: 0, moved: 1 },
            }, {
                go: ["+2"],
                say: "The counter does not count the two instructions of the kernel, NOP and SYSRET.",
                holds: { cpl: 3, moved: 0 },
            }, {
                go: ["record"],
                say: "So the record comes after five instructions of the program, in step 7.",
                holds: { step: 7, records: 1 },
            }, {
                set: `${SYSCALLS};pmc0=instructions:4:uk`,
                go: ["record"],
                say: "With USR and OS the counter counts the instructions of the kernel, too.",
                ask: "Which instruction is recorded now?",
                answer: "NOP at 401008H, the third of the program. Before it, the kernel's two instructions have " +
                        "counted.",
                proof: { holds: { step: 5, at: 3, cpl: 3 } },
                holds: { step: 5, records: 1 },
            },
        ],
    }, {
        title: "BTS: each taken branch, and the wrap",
        set: `${CALLS};bts=4`,
        parts: [
            {
                go: ["branch"],
                say: "BTS writes 24 bytes for each taken branch, interrupt and exception: from, to, and flags.",
                holds: { bts_records: 1 },
            }, {
                go: ["branch", "branch"],
                say: "BTS needs no counter. The buffer has room for four records.",
                ask: "What does the fourth record do to BtsIndex?",
                answer: "It takes it back to the base: the buffer wraps.",
                proof: { go: ["branch"], holds: { bts_records: 4, bts_dropped: 0 } },
                holds: { bts_records: 3 },
            }, {
                go: ["branch"],
                say: "BTINT is 0, so the buffer is a ring. After the last record BtsIndex is at the base again, " +
                     "and the next record overwrites the oldest.",
                holds: { bts_records: 4 },
            }, {
                set: `${CALLS};bts=6;btsthreshold=4;btint=interrupts`,
                go: ["pmi"],
                say: "With BTINT set, the threshold raises a PMI. No status bit shows it (policy bts_ovf_buf=no), " +
                     "so the handler must look at BtsIndex.",
                holds: { bts_records: 4, pmis: 1, global_status: 0 },
            }, {
                go: ["drain"],
                say: "The entry into the handler is a branch, too. It was recorded as the fifth.",
                holds: { bts_drained: 5 },
            },
        ],
    }, {
        title: "A masked PMI",
        set: `${ICELAKE};threshold=2;records=5;handler=forgets_lvtpc`,
        parts: [
            {
                go: ["pmi"],
                say: "The first PMI arrives. LVTPC masks itself.",
                holds: { pmis: 1, pmis_lost: 0 },
            }, {
                go: ["drain", "+3"],
                say: "This handler has an error: it does not write LVTPC again. The program goes on.",
                ask: "What happens at the next threshold?",
                answer: "The PMI waits, because LVTPC is masked. The handler does not run, and nobody empties the " +
                        "buffer.",
                proof: { go: ["pmi"], holds: { pmis: 1, pmi_latched: 1, drains: 1 } },
                holds: { in_handler: 0, lvtpc: 0x100FE },
            }, {
                go: ["pmi"],
                say: "LVTPC is masked, so the PMI waits. OvfBuf is set, but nobody looks.",
                holds: { pmis: 1, pmi_latched: 1 },
            }, {
                go: ["drop"],
                say: "The buffer fills, and the processor drops records.",
                holds: { dropped: 1 },
            }, {
                set: `${ICELAKE};threshold=2;lvtpc=masked;policy.masked_pmi=lost`,
                go: ["pmi"],
                say: "No manual says what happens to a masked PMI. That it waits until software unmasks LVTPC " +
                     "is inferred from Linux. With the policy masked_pmi=lost it never comes.",
                holds: { pmis: 0, pmis_lost: 1 },
            },
        ],
    }, {
        title: "The PMI comes late",
        set: `${ICELAKE};threshold=2;records=5;delay=14`,
        parts: [
            {
                go: ["pmi"],
                say: "A processor does not take an interrupt at once. Here it takes it 14 instructions later.",
                holds: { records: 2, pmis: 1 },
            }, {
                go: ["record", "record"],
                say: "Until then records go on, beyond the threshold. They need the room between the threshold and " +
                     "the absolute maximum.",
                holds: { records: 4, drains: 0 },
            }, {
                go: ["drain"],
                say: "The drain takes all four records.",
                holds: { drained: 4, dropped: 0 },
            }, {
                set: `${ICELAKE};threshold=2;records=2;delay=14`,
                go: ["pmi", "drop"],
                say: "If the threshold is at the end of the buffer, there is no such room. The processor drops " +
                     "records while the PMI is on its way.",
                ask: "Where do you put the threshold?",
                answer: "So low that the records of the delay fit above it. A record comes each 6 instructions, " +
                        "so 14 instructions bring two: room for four is enough.",
                proof: { set: `${ICELAKE};threshold=2;records=4;delay=14`,
                         go: ["drain"], holds: { drained: 4, dropped: 0 } },
                holds: { records: 2, dropped: 1, drains: 0 },
            },
        ],
    },
    {
        title: "Architectural PEBS: without the Debug Store",
        set: COUGAR,
        parts: [
            {
                say: "Panther Lake has no PEBS in a DS area. IA32_PEBS_BASE holds the buffer's physical address, " +
                     "IA32_PEBS_INDEX the position and the threshold, and each counter has its CFG_C.",
                ask: "Find PebsGpCounterReset: where is the value −5 now?",
                answer: "In the low half of IA32_PMC_GP2_CFG_C, as FFFFFFFBH. Each counter has such a register.",
                proof: { holds: { used: 4, pebs: 4 } },
                holds: { step: 0, format: 15, pebs_index: 0x38000000000 + 0x100000000, pebs_base: 0x12340000 },
            }, {
                go: ["record"],
                say: "Counting, arming and the record are as before. The processor moves the position by E0H = 224 " +
                     "bytes, and reloads the counter from its CFG_C.",
                holds: { step: 6, records: 1, newest_bytes: 224, newest_address: 0x12340000 },
            }, {
                go: ["pmi"],
                say: "The fourth record reaches the threshold, 380H. The processor sets bit 54 of GLOBAL_STATUS; " +
                     "bit 62 was the Debug Store's.",
                holds: { records: 4, pmis: 1 },
            }, {
                go: ["drain"],
                say: "The handler copies the records and writes IA32_PEBS_INDEX, a register: position 0, and EN. In " +
                     "a DS area it would write memory.",
                holds: { drains: 1, drained: 4, pebs_index: 0x38100000000 },
            }, {
                set: `${COUGAR};groups=mem,gpr,xmm,lbr;lbr=32;threshold=0`,
                go: ["record", "record", "drop"],
                say: "Two records of 1376 bytes, and a third finds no room in 4096 bytes. Here a bit tells it: FULL, " +
                     "bit 31 of IA32_PEBS_INDEX.",
                ask: "What does the processor store from now on, until software clears FULL?",
                answer: "Nothing: each further record is dropped, although counters go on and are reloaded.",
                proof: { go: ["drop", "drop"], holds: { records: 2, dropped: 3 } },
                holds: { records: 2, dropped: 1, newest_bytes: 1376 },
            }, {
                set: `${COUGAR};policy.arch_fragments=cont`,
                go: ["record"],
                say: "A record may come in fragments, each with a header: CONT, bit 31, says that the next one goes " +
                     "on. Whether processors do that is not known: it is a policy.",
                holds: { records: 1, newest_bytes: 240 },
            },
        ],
    },
];
