/* SPDX-License-Identifier: MIT */
/* The trace out of the page: html.h says how it lies there. Times are units of the session clock since it began. */
"use strict";

const meta = JSON.parse(document.getElementById("meta").textContent);
const keyOf = new Map(meta.keys); /* the last of a name counts */
const NOBODY = 0xFFFFFFFF; /* no such thread, or index */

function fromBase64(text) {
    if (Uint8Array.fromBase64)
        return Uint8Array.fromBase64(text);
    return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

/* All of the stream. `progress` is told the share that has come, and may take a while. */
async function readStream(progress) {
    const bytes = new Uint8Array(meta.totals.bytes);
    let at = 0;
    for (const element of document.querySelectorAll("script.stream")) {
        const piece = fromBase64(element.textContent);
        bytes.set(piece, at);
        at += piece.length;
        element.remove();
        await progress(at / bytes.length);
    }
    return bytes;
}

class Switches {
    constructor(n) {
        this.count = 0;
        this.time = new Float64Array(n);
        this.cpu = new Uint16Array(n);
        this.old = new Uint32Array(n);
        this.next = new Uint32Array(n); /* NOBODY: not known who */
        this.form = new Uint8Array(n);
        this.state = new Uint8Array(n);
        this.reason = new Uint8Array(n);
        this.priority = new Int8Array(n);
        this.detailed = new Uint8Array(n); /* these three are known */
        this.raw = new Uint8Array(n);      /* `reason` is whatever stood there: no state can be told from it */
        this.wait = new Uint32Array(n);
        this.batch = new Uint32Array(n); /* index into trace.batches */
        this.at = new Uint16Array(n);    /* where the switch's own bytes begin, in its batch */
    }
}

/* A method for each item. What they have in common, CPU and time, is read before. */
class ItemReader {
    constructor(bytes) {
        this.bytes = bytes;
        this.view = new DataView(bytes.buffer);
        this.at = this.time = this.cpu = 0;
        this.open = []; /* by CPU: its batch, and where in that the next switch lies */
        this.trace = {
            bytes, texts: [""], batches: [], switches: new Switches(meta.totals.switches),
            records: [], drains: [], locks: [], events: [], losses: [], missed: [], btsdrains: [],
            order: [], /* losses and readied threads, and which switch comes behind each */
        };
    }
    byte() { return this.bytes[this.at++]; }
    number() {
        let value = 0, scale = 1, byte;
        do {
            byte = this.bytes[this.at++];
            value += (byte & 0x7F) * scale;
            scale *= 128;
        } while (byte & 0x80);
        return value;
    }
    signed() {
        const n = this.number();
        return n % 2 ? -(n + 1) / 2 : n / 2;
    }
    word() {
        this.at += 8;
        return this.view.getBigUint64(this.at - 8, true);
    }
    some(size) { /* bytes: where they begin */
        this.at += size;
        return this.at - size;
    }
    said() { return this.trace.texts[this.number()]; }
    place() { return { time: this.time, cpu: this.cpu }; }
    raw() {
        const head = this.number(), size = this.number();
        return { head, size, bytes: this.some(size) };
    }

    text() {
        const size = this.number(), at = this.some(size);
        this.trace.texts.push(ItemReader.utf8.decode(this.bytes.subarray(at, at + size)));
    }
    batch() {
        const cpu = this.number(), batch = this.raw();
        batch.first = this.trace.switches.count;
        this.open[cpu] = { number: this.trace.batches.length, at: 0 };
        this.trace.batches.push(batch);
    }
    switch() {
        const s = this.trace.switches, i = s.count++, flags = this.byte(), open = this.open[this.cpu];
        s.time[i] = this.time;
        s.cpu[i] = this.cpu;
        s.form[i] = flags & 7;
        s.old[i] = this.number();
        s.next[i] = flags & 8 ? this.number() : NOBODY;
        if (flags & 16) {
            s.detailed[i] = 1;
            s.state[i] = this.byte();
            s.reason[i] = this.byte();
            s.priority[i] = this.byte();
        }
        s.raw[i] = flags >> 5 & 1;
        const whole = s.form[i] === meta.form.event; /* an event of its own: it is all there is in its batch */
        s.wait[i] = whole || s.form[i] === meta.form.full ? this.number() : 0;
        open.at ||= this.trace.batches[open.number].head + (whole ? 0 : meta.layouts.batch.bytes);
        s.batch[i] = open.number;
        s.at[i] = open.at;
        open.at += meta.forms[s.form[i]].bytes;
    }
    record() {
        const r = this.place(), flags = this.byte(), who = this.number();
        r.timed = !!(flags & 1);
        r.after = !!(flags & 2);
        r.tid = flags & 4 ? who : NOBODY;
        r.why = flags & 4 ? "" : this.trace.texts[who];
        r.ip = this.word();
        r.address = this.word();
        r.name = this.said();
        r.words = this.said();
        r.epoch = this.number();
        r.format = this.number();
        r.size = this.number();
        r.bytes = this.some(r.size);
        r.means = this.at; /* read when they are asked for: wordsOf */
        r.level = 0;
        for (let n = r.words.split("[").length - 2; n > 0; n--)
            this.number();
        this.trace.records.push(r);
    }
    drain() {
        const d = this.place();
        d.epoch = this.number();
        d.code = this.number();
        d.reason = this.said();
        d.records = this.number();
        d.complete = !!this.byte();
        d.lost = this.said();
        d.recordBytes = this.number();
        d.rows = this.said();
        d.format = this.number();
        d.size = this.number();
        d.bytes = this.some(d.size);
        this.trace.drains.push(d);
    }
    lock() {
        const l = this.place();
        l.tid = this.number();
        l.name = this.said();
        l.by = this.said();
        l.timed = !!this.byte();
        l.acquired = this.time + this.signed();
        l.released = this.time + this.signed();
        l.mode = this.said();
        l.size = meta.layouts.spinlock.bytes;
        l.bytes = this.some(l.size);
        this.trace.locks.push(l);
    }
    event() {
        const e = this.place();
        e.hook = this.number();
        e.text = this.said();
        Object.assign(e, this.raw());
        this.trace.events.push(e);
    }
    ready() {
        const tid = this.number();
        this.trace.order.push({ before: this.trace.switches.count, ready: tid, time: this.time });
        this.event();
    }
    lost() {
        const l = this.place();
        l.kind = this.number();
        l.text = this.said();
        const flags = this.byte();
        l.since = flags & 1 ? this.signed() : undefined;
        l.until = flags & 2 ? this.signed() : undefined;
        this.trace.order.push({ before: this.trace.switches.count, loss: l });
        this.trace.losses.push(l);
    }

    missed() {
        const text = this.said(), quiet = !!this.byte(), from = this.signed(), to = this.signed();
        this.trace.missed.push({ cpu: this.cpu, why: RECORDS, quiet, text, from, to });
    }

    btsdrain() {
        const d = this.place();
        d.time = this.signed();
        d.epoch = this.number();
        d.reason = this.said();
        d.tid = this.number();
        d.branches = this.number();
        d.lost = this.said();
        d.interrupting = !!this.byte();
        d.seen = this.number();
        d.bytes = this.some(d.seen * meta.layouts.branch.bytes);
        d.names = this.at; /* read when they are asked for: branchesOf */
        for (let n = 2 * d.seen; n > 0; n--)
            this.number();
        this.trace.btsdrains.push(d);
    }

    /* Items up to that place of the stream. */
    read(end) {
        const { text, batch } = meta.items, read = [];
        for (const [name, code] of Object.entries(meta.items))
            read[code] = this[name];
        while (this.at < end) {
            const what = this.byte();
            if (what !== text && what !== batch) {
                this.cpu = this.number();
                this.time += this.signed();
            }
            read[what].call(this);
        }
    }
}
ItemReader.utf8 = new TextDecoder();

/* The words of a PEBS record: what they are called, where they lie, and what they mean. */
function wordsOf(trace, record) {
    const reader = new ItemReader(trace.bytes);
    reader.trace = trace;
    reader.at = record.means;
    return JSON.parse(record.words).map(([group, name, at]) => ({ group, name, at, means: reader.said() }));
}

/* The branches of a drain: where each was, and where it led. */
function branchesOf(trace, drain) {
    const reader = new ItemReader(trace.bytes), { bytes } = meta.layouts.branch;
    reader.trace = trace;
    reader.at = drain.names;
    return Array.from({ length: drain.seen }, (_, i) =>
        ({ from: reader.said(), to: reader.said(), at: drain.bytes + i * bytes, size: bytes }));
}
