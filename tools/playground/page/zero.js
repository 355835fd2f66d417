/* SPDX-License-Identifier: MIT */
/*
 * Scene 0: one loop on two machines. One takes its samples by interrupt, the other by PEBS. What happens, and whom a
 * sample names, is the model's: a run looks at its machine after each step. zero_view.js shows it.
 */
"use strict";

const ZERO_SAMPLES = 24, ZERO_RECORDS = 32; /* the threshold, and the room of the buffer */
const ZERO_LOOP = `cpu=icelake;groups=mem;records=${ZERO_RECORDS};threshold=${ZERO_SAMPLES};` +
    "program=set:9,load,add,dec,store,nop";

class ZeroRun {
    constructor(counter) {
        this.machine = machine.twin();
        this.counter = counter;
    }
    get settings() { return `${ZERO_LOOP};pmc0=${this.counter};delay=${this.lateness}`; }
    begin(lateness) {
        this.lateness = lateness;
        const error = this.machine.open(this.settings);
        if (error)
            throw new Error(`scene 0: ${error}`);
        this.samples = []; /* { step, place }: a place in the program */
        this.events = this.machine.listing().map(() => 0); /* of each instruction: how often a counter has counted it */
    }
    get at() { return this.machine.number("at"); }
    get inHandler() { return this.machine.number("in_handler") > 0; }
    get interrupts() { return this.machine.number("pmis"); }
    /* All samples are taken, and no interrupt is open. */
    get done() {
        return this.samples.length >= ZERO_SAMPLES && !this.inHandler && !this.machine.number("pmi_due");
    }
    /* The instruction that the counter counts. */
    get guilty() { return this.events.indexOf(Math.max(...this.events)); }
    samplesOf(place) { return this.samples.filter((sample) => sample.place === place).length; }
    /* The place that most samples name, or undefined. */
    get blamed() {
        const counts = this.events.map((_, place) => this.samplesOf(place)), most = Math.max(...counts);
        return most ? counts.indexOf(most) : undefined;
    }
    step() {
        const { at, inHandler } = this;
        this.machine.to(this.machine.number("step") + 1);
        this.events[at] += this.machine.number("moved") ? 1 : 0;
        const named = this.named(inHandler);
        if (named !== undefined)
            this.samples.push({ step: this.machine.number("step"), place: Number((named - CODE) / INSN_BYTES) });
    }
    toSample() {
        const count = this.samples.length;
        while (!this.done && this.samples.length === count)
            this.step();
    }
    finish() {
        while (!this.done)
            this.step();
    }
}

/* A sample is where the interrupt's handler finds the program. */
class InterruptRun extends ZeroRun {
    constructor() { super("loads:2:u:plain"); }
    named(wasInHandler) { return this.inHandler && !wasInHandler ? this.machine.big("rip") : undefined; }
}

/* A sample is a record: the address in its EventingIP. */
class PebsRun extends ZeroRun {
    constructor() { super("loads:2:u"); }
    named() {
        const { machine } = this;
        return machine.number("newest_step") === machine.number("step") ? recordedAddress(machine) : undefined;
    }
    /* What the buffer holds now, by PebsIndex. */
    get stored() {
        const pointer = (name) => this.machine.named("row", name).value;
        const bytes = this.machine.number("record_bytes"), buffer = this.machine.bytes("buffer");
        const view = new DataView(buffer.buffer, buffer.byteOffset);
        const count = Number(pointer("PebsIndex") - pointer("PebsBufferBase")) / bytes;
        return Array.from({ length: count }, (_, i) => ({ ip: view.getBigUint64(i * bytes + 8, true),
                                                          tsc: view.getBigUint64(i * bytes + 24, true) }));
    }
}
