/* SPDX-License-Identifier: MIT */
/*
 * The guided scenes. Each part has what to look at (`say`), perhaps a question (`ask`), how to get there from the part
 * before (`go`: "+N" steps, or the name of a mark to run to, some of them after each other), other settings (`set`, from
 * step 0), and what is true then (`holds`): numbers of the state, which the tests compare.
 */
"use strict";

const LOOP = "program=set:3,load,add,store,dec,jnz:1,call:8,jmp:0,nop,ret";
const PLAIN_LOOP = "program=add,nop,nop,nop";
const CALLS = "program=call:3,nop,jmp:0,add,ret";

const scenes = [
    { title: "Arming: a record for each period + 1 events", set: `cpu=icelake;pmc0=instructions:5:u;${LOOP}`, parts: [
        { say: "IA32_PMC0 counts instructions. It starts at −5, so that it overflows with the fifth.",
          ask: "Which instruction will the first record be of: the fifth, or another?", holds: { step: 0, records: 0 } },
        { go: ["overflow"], say: "With the fifth instruction the counter is 0. It has overflowed, but there is no record " +
          "yet: PEBS is armed.", holds: { step: 5, records: 0, armed: 1, global_status: 1 } },
        { go: ["record"], say: "The sixth event writes the record, reloads the counter and clears its status bit. The " +
          "● in the program is the recorded instruction.", holds: { step: 6, records: 1, armed: 0, global_status: 0 } },
        { go: ["record"], say: "The next record comes six instructions later, not five: the event that writes a record " +
          "is not counted into the next period.", ask: "Which period gives a record for each 10 events?",
          holds: { step: 12, records: 2 } },
    ] },
    { title: "Precise distribution: a record for each period", set: `cpu=icelake;pmc0=off;fixed0=5:u;${LOOP}`, parts: [
        { say: "The fixed counter IA32_FIXED_CTR0 of Ice Lake has precise distribution (PDIST).",
          ask: "When will the first record come now?", holds: { records: 0 } },
        { go: ["record"], say: "The event that overflows the counter is the one that is recorded: step 5. Nothing is " +
          "armed and waits.", holds: { step: 5, records: 1, armed: 0 } },
        { go: ["record"], say: "And the next one is five instructions later.", holds: { step: 10, records: 2 } },
        { set: `cpu=sapphirerapids;pmc0=stores:2:u;pmc1=stores:2:u;${LOOP}`, go: ["record"],
          say: "From Golden Cove on IA32_PMC0 has precise distribution. Both counters have counted two stores: PMC0 " +
          "records the second, PMC1 is armed and waits for the third.", holds: { step: 9, records: 1, armed: 2 } },
    ] },
    { title: "The threshold, the PMI and the drain", set: `cpu=icelake;pmc0=instructions:5:u;records=6;threshold=4;${LOOP}`,
      parts: [
        { go: ["record", "record", "record"], say: "Three records are in the buffer. PebsIndex is below the threshold, so " +
          "nothing interrupts: PEBS needs no interrupt for a record.", holds: { records: 3, pmis: 0 } },
        { go: ["pmi"], say: "The fourth record reaches the threshold. The processor sets OvfBuf in GLOBAL_STATUS; LVTPC " +
          "raises the interrupt and masks itself.", holds: { records: 4, pmis: 1, lvtpc: 0x100FE } },
        { go: ["+1"], say: "The interrupt is taken before the next instruction. Step through the handler (s): each step is " +
          "one that a driver makes.", holds: { in_handler: 2, cpl: 0 } },
        { go: ["drain"], say: "The drain: records are copied out, PebsIndex goes back to the base.",
          ask: "Why must the counters be off before?", holds: { drains: 1, drained: 4, records: 4 } },
        { go: ["+3"], say: "LVTPC is written again, the counters are on, IRETQ returns: the program goes on.",
          holds: { in_handler: 0, lvtpc: 0xFE, cpl: 3 } },
    ] },
    { title: "A full buffer drops, silently", set: `cpu=icelake;pmc0=instructions:5:u;records=3;threshold=0;${LOOP}`, parts: [
        { go: ["record", "record", "record"], say: "Room for three records, and no threshold: nobody will empty the buffer.",
          ask: "What happens with the fourth?", holds: { records: 3, dropped: 0 } },
        { go: ["drop"], say: "It does not fit below the absolute maximum, and is dropped. No bit of any register tells " +
          "software; only this model counts it.", holds: { records: 3, dropped: 1, global_status: 0, pmis: 0 } },
        { go: ["drop"], say: "By default the counter is reloaded as if there had been a record, so the next one is dropped " +
          "six instructions later. No manual says whether it is: that is a policy.", holds: { dropped: 2, step: 30 } },
        { set: `cpu=icelake;pmc0=instructions:5:u;records=3;threshold=0;policy.drop_reload=no;${LOOP}`, go: ["drop", "drop"],
          say: "With the policy drop_reload=no the counter stays overflowed and armed: every event tries again.",
          ask: "How could a probe on a real machine tell the two apart?",
          holds: { dropped: 2, step: 25, armed: 1, global_status: 1 } },
    ] },
    { title: "Two counters, one record",
      set: `cpu=icelake;pmc0=instructions:4:u;pmc1=instructions:4:u;${PLAIN_LOOP}`, parts: [
        { go: ["overflow"], say: "Two counters count the same, with the same period. Both overflow with one instruction; " +
          "both are armed.", ask: "Will there be two records?", holds: { step: 4, armed: 3, records: 0 } },
        { go: ["record"], say: "One record is for both: its field “counters” has two bits.", holds: { records: 1, armed: 0 } },
        { set: `cpu=icelake;pmc0=instructions:4:u;pmc1=instructions:6:u;${PLAIN_LOOP}`, go: ["record", "record"],
          say: "With periods of 4 and 6 each has records of its own, at steps 5 and 7.", holds: { records: 2, step: 7 } },
    ] },
    { title: "The bystander: a sample that nobody sees",
      set: "cpu=haswell;pmc0=loads:2:u;pmc1=stores:2:u;program=load,store,load,store,load,nop,nop,store", parts: [
        { go: ["overflow", "overflow"], say: "Haswell, format 2. Two counters have overflowed and are armed: one waits for a " +
          "load, the other for a store.", ask: "The next instruction is a load. What becomes of the store's sample?",
          holds: { armed: 3, records: 0 } },
        { go: ["record"], say: "The record is of the load. But the store's counter is reloaded as well, because its bit was " +
          "set in GLOBAL_STATUS: its sample is swallowed.", holds: { records: 1, swallowed: 1, armed: 0 } },
        { set: "cpu=skylake;pmc0=loads:2:u;pmc1=stores:2:u;program=load,store,load,store,load,nop,nop,store",
          go: ["record"], say: "Skylake, format 3: the other counter stays armed.",
          holds: { records: 1, swallowed: 0, armed: 2 } },
        { go: ["record"], say: "And its record follows with the next store. The policy “bystander” turns this round.",
          holds: { records: 2, swallowed: 0, armed: 0 } },
    ] },
    { title: "A record in formats 0 to 6", set: `cpu=penryn;pmc0=instructions:5:u;${LOOP}`, parts: [
        { go: ["record"], say: "Format 0 (Penryn): registers only, 144 bytes. RIP is that of the next instruction: which one " +
          "was recorded, software must find out.", holds: { format: 0, newest_bytes: 144 } },
        { set: `cpu=nehalem;pmc0=loads:2:u;${LOOP}`, go: ["record"], say: "From here on of loads. Format 1 (Nehalem): also " +
          "GLOBAL_STATUS, and three words for load latency.", holds: { format: 1, newest_bytes: 176 } },
        { set: `cpu=haswell;pmc0=loads:2:u;${LOOP}`, go: ["record"], say: "Format 2 (Haswell): EventingIP, the recorded " +
          "instruction itself, and the data address of every load.", holds: { format: 2, newest_bytes: 192 } },
        { set: `cpu=skylake;pmc0=loads:2:u;${LOOP}`, go: ["record"], say: "Format 3 (Skylake): the TSC, and the counters " +
          "that the record is for.", holds: { format: 3, newest_bytes: 200 } },
        { set: `cpu=icelake;pmc0=loads:2:u;groups=mem,gpr;${LOOP}`, go: ["record"], say: "Format 4 (Ice Lake): groups. " +
          "Software chooses them in MSR_PEBS_DATA_CFG; the head has the size.", holds: { format: 4, newest_bytes: 208 } },
        { set: `cpu=arrowlake;pmc0=loads:2:u;groups=mem,gpr;${LOOP}`, go: ["record"], say: "Format 5 (Lion Cove of Arrow " +
          "Lake H): the same record, but a DS area for 32 + 16 counters.", holds: { format: 5, newest_bytes: 208 } },
        { set: `cpu=lunarlake;pmc0=loads:2:u;groups=mem,gpr,cntr;${LOOP}`, go: ["record"], say: "Format 6 (Lunar Lake): " +
          "also the values of counters, in a group of their own.", ask: "Which value has the counter that was recorded?",
          holds: { format: 6, newest_bytes: 336 } },
    ] },
    { title: "Groups: what a record costs", set: `cpu=icelake;pmc0=loads:2:u;groups=none;records=8;threshold=0;${LOOP}`,
      parts: [
        { go: ["record"], say: "No group: the basic one alone, 32 bytes.", holds: { newest_bytes: 32 } },
        { set: `cpu=icelake;pmc0=loads:2:u;groups=mem;records=8;threshold=0;${LOOP}`, go: ["record"],
          say: "MEMINFO adds the data address. Data source and latency are 0: this model has no caches.",
          holds: { newest_bytes: 64 } },
        { set: `cpu=icelake;pmc0=loads:2:u;groups=gpr,lbr;lbr=4;records=8;threshold=0;${LOOP}`, go: ["record"],
          say: "LBR adds the last branches, newest first: how the program came here.", holds: { newest_bytes: 272 } },
        { set: `cpu=icelake;pmc0=loads:2:u;groups=mem,gpr,xmm,lbr;lbr=32;records=8;threshold=0;${LOOP}`, go: ["record"],
          say: "All groups with 32 branches: 1232 bytes.", ask: "How many such records fit into 64 KiB?",
          holds: { newest_bytes: 1232 } },
        { set: `cpu=icelake;pmc0=loads:2:u;groups=gpr,cntr;${LOOP}`,
          say: "Ice Lake has no group CNTR. The write of MSR_PEBS_DATA_CFG raises #GP: look at the last sentences.",
          holds: { step: 0, data_cfg: 0, record_bytes: 32 } },
    ] },
    { title: "Rings: whose events count", set: "cpu=icelake;pmc0=instructions:4:u;program=add,syscall,nop", parts: [
        { go: ["+2"], say: "SYSCALL enters the kernel at CPL 0. It retired at CPL 3, so the counter, which has only USR set, " +
          "has counted it.", holds: { cpl: 0 } },
        { go: ["+2"], say: "The kernel's two instructions, NOP and SYSRET, are not counted.", holds: { cpl: 3 } },
        { go: ["record"], say: "So the record comes only after five instructions of the program itself.",
          holds: { step: 7, records: 1 } },
        { set: "cpu=icelake;pmc0=instructions:4:uk;program=add,syscall,nop", go: ["record"],
          say: "With USR and OS (flags uk) the kernel's are counted as well.", ask: "Which instruction is recorded now?",
          holds: { step: 5, records: 1 } },
    ] },
    { title: "BTS: each taken branch, and the wrap", set: `cpu=icelake;pmc0=off;bts=4;${CALLS}`, parts: [
        { go: ["branch"], say: "BTS writes 24 bytes for each taken branch, interrupt and exception: from, to, and a flag.",
          holds: { bts_records: 1 } },
        { go: ["branch", "branch"], say: "No counter has a part in it.", ask: "What will the fourth record do to BtsIndex?",
          holds: { bts_records: 3 } },
        { go: ["branch"], say: "BTINT is clear: the buffer is a ring. After the last record that fits, BtsIndex is at the " +
          "base again, and the oldest is overwritten.", holds: { bts_records: 4 } },
        { set: `cpu=icelake;pmc0=off;bts=6;btsthreshold=4;btint=interrupts;${CALLS}`, go: ["pmi"],
          say: "With BTINT set the threshold interrupts. No status bit says so (policy bts_ovf_buf=no): the handler must " +
          "look at BtsIndex.", holds: { bts_records: 4, pmis: 1, global_status: 0 } },
        { go: ["drain"], say: "The entry into the handler is a branch as well: it was recorded, too.",
          holds: { bts_drained: 5 } },
    ] },
    { title: "A masked PMI", set: `cpu=icelake;pmc0=instructions:5:u;threshold=2;records=5;handler=forgets_lvtpc;${LOOP}`,
      parts: [
        { go: ["pmi"], say: "The first PMI arrives, and LVTPC masks itself.", holds: { pmis: 1, pmis_lost: 0 } },
        { go: ["drain", "+3"], say: "This handler has an error: it does not write LVTPC again. The program goes on.",
          ask: "What happens at the next threshold?", holds: { in_handler: 0, lvtpc: 0x100FE } },
        { go: ["pmi"], say: "LVTPC is masked: the PMI is lost. OvfBuf is set, but nobody is told.",
          holds: { pmis: 1, pmis_lost: 1 } },
        { go: ["drop"], say: "So the buffer fills, and records are dropped.", holds: { dropped: 1 } },
        { set: `cpu=icelake;pmc0=instructions:5:u;threshold=2;lvtpc=masked;policy.masked_pmi=latched;${LOOP}`, go: ["pmi"],
          say: "By another reading of the manual (policy masked_pmi=latched) the PMI waits until software unmasks LVTPC.",
          holds: { pmis: 0, pmi_latched: 1 } },
    ] },
    { title: "The PMI comes late", set: `cpu=icelake;pmc0=instructions:5:u;threshold=2;records=5;delay=14;${LOOP}`, parts: [
        { go: ["pmi"], say: "An interrupt is not taken at once: here 14 instructions later.",
          holds: { records: 2, pmis: 1 } },
        { go: ["record", "record"], say: "Records go on meanwhile, beyond the threshold. That is what the room between " +
          "threshold and absolute maximum is for.", holds: { records: 4, drains: 0 } },
        { go: ["drain"], say: "All four are drained.", holds: { drained: 4, dropped: 0 } },
        { set: `cpu=icelake;pmc0=instructions:5:u;threshold=2;records=2;delay=14;${LOOP}`, go: ["pmi", "drop"],
          say: "A threshold at the very end leaves no such room: records are dropped while the PMI is on its way.",
          ask: "Where would you put the threshold?", holds: { records: 2, dropped: 1, drains: 0 } },
    ] },
];

/* ---- playing them ------------------------------------------------------------------------------------------------ */

const scene = {
    number: 0, part: 0, /* number 0: none */

    get now() { return scenes[this.number - 1]; },
    /* From step 0 of the last part that has settings of its own. */
    play(number, part) {
        this.number = number;
        this.part = part;
        const { set, parts } = this.now;
        let first = part;
        while (first > 0 && !parts[first].set)
            first--;
        const error = machine.open(`${parts[first].set ?? set};scene=${number};stop=${part}`);
        if (error)
            throw new Error(`scene ${number}: ${error}`);
        for (let i = first; i <= part; i++)
            for (const go of parts[i].go ?? [])
                this.go(go, number);
    },
    go(go, number) {
        if (go.startsWith("+"))
            machine.to(machine.number("step") + Number(go));
        else if (!machine.run(MARK[go]))
            throw new Error(`scene ${number}: no ${go}`);
    },
    forward() {
        if (!this.number)
            return this.play(1, 0);
        if (this.part + 1 < this.now.parts.length)
            return this.play(this.number, this.part + 1);
        return this.play(this.number % scenes.length + 1, 0);
    },
    back() {
        if (!this.number)
            return this.play(1, 0);
        if (this.part > 0)
            return this.play(this.number, this.part - 1);
        const number = this.number > 1 ? this.number - 1 : scenes.length;
        return this.play(number, scenes[number - 1].parts.length - 1);
    },
    /* As the settings that were opened say. */
    take() {
        const number = Number(settings.get("scene") ?? 0), part = Number(settings.get("stop") ?? 0);
        this.number = number <= scenes.length ? number : 0;
        this.part = this.number && part < this.now.parts.length ? part : 0;
    },
    show() {
        by("scene").hidden = !this.number;
        by("scenes").value = String(this.number);
        if (!this.number)
            return;
        const { title, parts } = this.now, { say, ask } = parts[this.part];
        by("scene-title").textContent = `${this.number}. ${title}`;
        by("scene-part").textContent = `${this.part + 1} of ${parts.length}`;
        by("scene-say").textContent = say;
        by("scene-ask").textContent = ask ?? "";
    },
};
