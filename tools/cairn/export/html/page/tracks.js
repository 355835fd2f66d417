/* SPDX-License-Identifier: MIT */
/* Who ran where, and what each thread was about: stretches of time, and quick answers about many of them at once. */
"use strict";

const IDLE = 0;
/* What a thread is about: KTHREAD_STATE; or that it waits, and for which reason, or for one that nobody knows; or
 * nobody knows anything. */
const WAITS = 16, WAITS_UNTOLD = 254, UNKNOWN = 255;
/* Why a gap is one: meta.hole; or nothing is lost, but the log does not say; or PEBS records are missing. */
const UNTOLD = -1, RECORDS = -2;

class Column { /* a typed array that grows */
    constructor(Type) {
        this.items = new Type(64);
        this.count = 0;
    }
    push(value) {
        if (this.count === this.items.length) {
            const more = new this.items.constructor(this.count * 2);
            more.set(this.items);
            this.items = more;
        }
        this.items[this.count++] = value;
    }
    done() { return this.items.slice(0, this.count); }
}

/* Stretches one after another: from times[i] to times[i + 1] it was codes[i], since the switch refs[i]. */
class Track {
    constructor(times, codes, refs, end) {
        this.times = times;
        this.codes = codes;
        this.refs = refs;
        this.end = end;
        this.sums = new Map();
        for (let i = 1; i < times.length; i++)
            times[i] = Math.max(times[i], times[i - 1]); /* a damaged log's may go back */
    }
    get count() { return this.codes.length; }
    begins(i) { return this.times[i]; }
    ends(i) { return i + 1 < this.times.length ? this.times[i + 1] : Math.max(this.end, this.times[i]); }
    at(time) { return lastAtOrBefore(this.times, time); }

    /* How long up to `time` the codes were such that `counts` says yes; `counts` is asked once for each stretch. */
    upTo(time, counts) {
        let sums = this.sums.get(counts);
        if (!sums) {
            sums = new Float64Array(this.count + 1);
            for (let i = 0; i < this.count; i++)
                sums[i + 1] = sums[i] + (counts(this.codes[i]) ? this.ends(i) - this.begins(i) : 0);
            this.sums.set(counts, sums);
        }
        const i = this.at(time);
        if (i < 0)
            return 0;
        return sums[i] + (counts(this.codes[i]) ? Math.min(time, this.ends(i)) - this.begins(i) : 0);
    }

    /* Of the stretches first to last the longest for which `counts` says yes; -1: none. Of a track always the same
     * `counts`. */
    longest(first, last, counts) {
        this.lengths ??= new Longest(this.count, (i) => counts(this.codes[i]) ? this.ends(i) - this.begins(i) : -1);
        return this.lengths.of(first, last);
    }
}

const isBusy = (tid) => tid !== IDLE && tid !== NOBODY;
const isUnknown = (tid) => tid === NOBODY;
const isRunning = (code) => code === meta.state.running;
const isReady = (code) =>
    code === meta.state.ready || code === meta.state.standby || code === meta.state.deferred_ready;
const isResting = (code) => !isRunning(code) && code !== UNKNOWN && code !== meta.state.terminated;

/* Goes through switches, losses and readied threads in their order. */
class TrackMaker {
    constructor(trace, end) {
        this.trace = trace;
        this.end = end;
        this.cpus = Array.from({ length: meta.cpus }, () => ({
            times: new Column(Float64Array), codes: new Column(Uint32Array), refs: new Column(Uint32Array),
            gaps: [], open: [], runs: NOBODY,
        }));
        this.steps = { tid: new Column(Uint32Array), time: new Column(Float64Array), code: new Column(Uint8Array),
                       ref: new Column(Uint32Array) };
        this.where = new Map(); /* the CPU a thread runs on */
    }
    step(tid, time, code, ref) {
        this.steps.tid.push(tid);
        this.steps.time.push(time);
        this.steps.code.push(code);
        this.steps.ref.push(ref);
    }
    push(cpu, time, code, ref) {
        cpu.times.push(time);
        cpu.codes.push(code);
        cpu.refs.push(ref);
        cpu.runs = code;
    }
    left(i) { /* what the thread that leaves is about from then on */
        const s = this.trace.switches;
        if (!s.detailed[i] || s.raw[i] || meta.only_cpus) /* it may run where nobody looks */
            return UNKNOWN;
        if (s.state[i] !== meta.state.waiting)
            return s.state[i] < meta.states.length ? s.state[i] : UNKNOWN;
        return s.reason[i] < meta.reasons.length ? WAITS + s.reason[i] : WAITS_UNTOLD;
    }
    closeGaps(cpu, time) {
        for (const gap of cpu.open)
            gap.to = Math.max(gap.from, Math.min(gap.until ?? time, time));
        cpu.open = [];
    }
    switched(i) {
        const s = this.trace.switches, time = s.time[i], old = s.old[i], next = s.next[i], number = s.cpu[i];
        const cpu = this.cpus[number];
        const known = !cpu.open.length;
        if (cpu.times.count) {
            cpu.codes.items[cpu.codes.count - 1] = known ? old : NOBODY;
        } else if (meta.from_session_start) { /* who leaves first has run since the beginning */
            const from = Math.min(meta.first, time);
            this.push(cpu, from, known ? old : NOBODY, NOBODY);
            if (known && old !== IDLE) {
                this.step(old, from, meta.state.running, NOBODY);
                this.where.set(old, number);
            }
        }
        this.closeGaps(cpu, time);
        const on = this.where.get(old);
        if (old !== IDLE && (on === undefined || on === number)) { /* else it runs elsewhere already, as of this unit */
            this.step(old, time, this.left(i), i);
            this.where.delete(old);
        }
        if (next !== IDLE && next !== NOBODY) {
            this.step(next, time, meta.state.running, i);
            this.where.set(next, number);
        }
        this.push(cpu, time, next, i);
    }
    lost(loss) {
        const cpu = this.cpus[loss.cpu], n = cpu.times.count, from = n ? cpu.times.items[n - 1] : meta.first;
        const gap = { cpu: loss.cpu, why: loss.kind, text: loss.text,
                      from: Math.max(loss.since ?? from, meta.first), until: loss.until };
        cpu.gaps.push(gap);
        cpu.open.push(gap);
        this.forget(cpu, loss.cpu, from);
    }
    /* Who came last may have left since. */
    forget(cpu, number, from) {
        if (isBusy(cpu.runs) && this.where.get(cpu.runs) === number) {
            this.step(cpu.runs, from, UNKNOWN, cpu.refs.count ? cpu.refs.items[cpu.refs.count - 1] : NOBODY);
            this.where.delete(cpu.runs);
        }
    }
    /* From the last switch to the end. */
    finish(cpu, number) {
        const n = cpu.times.count, from = n ? cpu.times.items[n - 1] : meta.first;
        if (!meta.rest_known[number]) {
            if (!n && meta.from_session_start)
                this.push(cpu, from, NOBODY, NOBODY);
            if (n)
                cpu.codes.items[n - 1] = NOBODY;
            if (!cpu.open.length && from < this.end)
                cpu.gaps.push({ cpu: number, why: UNTOLD, text: "who ran here is not known", from, to: this.end });
            this.forget(cpu, number, from);
        }
        this.closeGaps(cpu, this.end);
    }
    readied(happens) {
        if (!this.where.has(happens.ready))
            this.step(happens.ready, happens.time, meta.state.ready, NOBODY);
    }
    run() {
        const { order, switches } = this.trace;
        let o = 0;
        for (let i = 0; i <= switches.count; i++) {
            for (; o < order.length && order[o].before === i; o++)
                if (order[o].loss)
                    this.lost(order[o].loss);
                else
                    this.readied(order[o]);
            if (i < switches.count)
                this.switched(i);
        }
        this.cpus.forEach((cpu, number) => this.finish(cpu, number));
        return { cpus: this.cpus.map((cpu) => this.cpuTrack(cpu)), threads: this.threadTracks() };
    }
    cpuTrack(cpu) {
        return { gaps: cpu.gaps, track: new Track(cpu.times.done(), cpu.codes.done(), cpu.refs.done(), this.end) };
    }
    /* The steps of each thread, by thread: counted, then each put where it belongs. */
    threadTracks() {
        const { tid, time, code, ref } = this.steps, n = tid.count, sizes = new Map();
        for (let i = 0; i < n; i++)
            sizes.set(tid.items[i], (sizes.get(tid.items[i]) ?? 0) + 1);
        const made = new Map();
        for (const number of [...sizes.keys()].sort((a, b) => a - b)) {
            const size = sizes.get(number);
            made.set(number, { tid: number, used: 0, times: new Float64Array(size), codes: new Uint8Array(size),
                               refs: new Uint32Array(size) });
        }
        for (let i = 0; i < n; i++) {
            const t = made.get(tid.items[i]);
            t.times[t.used] = time.items[i];
            t.codes[t.used] = code.items[i];
            t.refs[t.used++] = ref.items[i];
        }
        return [...made.values()].map((t) => ({ tid: t.tid, track: new Track(t.times, t.codes, t.refs, this.end) }));
    }
}

/* How a gap is drawn: as damage or a loss, or as something that was meant to be so. */
function kindOf(gap) {
    if (gap.why === UNTOLD)
        return "unknown";
    return gap.quiet || gap.why === meta.hole.stopped || gap.why === meta.hole.overwritten ? "stopped" : "gap";
}

/* How it came to be; "": what is missing says that itself. */
function causeOf(gap) {
    const { bytes, buffers, overwritten, lost, lost_here, maybe } = meta.hole;
    if (gap.why === RECORDS)
        return gap.quiet ? "the events with them were overwritten, or not recorded"
            : "the events with them are missing";
    if (gap.why === bytes || gap.why === buffers)
        return "the log is damaged: this part of it is not there, or cannot be read";
    if (gap.why === overwritten)
        return "newer events took their place";
    return [lost, lost_here, maybe].includes(gap.why) ? "events came faster than buffers were emptied" : "";
}

class Gaps extends Spans { /* and those of each kind, in the order in which one hides another */
    constructor(items) {
        super(items);
        this.byKind = Object.fromEntries(["unknown", "stopped", "gap"].map((kind) =>
            [kind, new Spans(items.filter((gap) => kindOf(gap) === kind))]));
    }
}

/* A switch as a thing that can be chosen, as records, drains, locks, events and gaps are. */
function switchAt(trace, i) {
    return { kind: "switch", index: i, time: trace.switches.time[i], cpu: trace.switches.cpu[i] };
}
const same = (a, b) => !!a && !!b && a.kind === b.kind && a.index === b.index;

/* How long somebody spun for the lock, in cycles of the TSC. */
function cyclesWaited(trace, lock) {
    const [, bit, bits] = meta.layouts.spinlock.fields.find(([name]) => name === "WaitTimeInCycles");
    return Number(readBits(trace.bytes.subarray(lock.bytes, lock.bytes + lock.size), bit, bits));
}

/* How high in its buffer a record lay, from 0 to 1; and each CPU's things, in the order of time. */
function arrange(trace, model) {
    model.cpus.forEach((cpu, number) => Object.assign(cpu, { number, records: [], drains: [], locks: [], events: [],
                                                               btsdrains: [] }));
    trace.btsdrains.sort((a, b) => a.time - b.time);
    for (const kind of ["drains", "records", "locks", "events", "btsdrains"])
        trace[kind].forEach((thing, i) => {
            thing.kind = kind.slice(0, -1);
            thing.index = i;
            model.cpus[thing.cpu][kind].push(thing);
        });
    for (const lock of trace.locks)
        lock.waited = cyclesWaited(trace, lock);
    for (const cpu of model.cpus) {
        cpu.drainOf = new Map();
        for (const drain of cpu.drains) {
            readArea(trace, drain);
            if (drain.code !== meta.drain.start)
                cpu.drainOf.set(drain.epoch, drain);
        }
        const spare = cpu.drains.find((drain) => drain.area)?.area ?? areaOfKeys(cpu.number);
        for (const record of cpu.records) {
            record.drain = cpu.drainOf.get(record.epoch);
            const area = record.drain?.area ?? spare;
            const room = area ? Number(area.maximum - area.base) : 0;
            const up = area ? Number(record.address - area.base) : 0;
            record.level = room > 0 && up >= 0 && up <= room ? up / room : 0;
        }
        cpu.times = {};
        cpu.btsdrains.forEach((drain, i) => { /* a thread's branches are drained when it leaves, if not before */
            const { track } = cpu, stretch = lastAtOrBefore(track.times, drain.time - 0.5);
            const came = stretch >= 0 && track.codes[stretch] === drain.tid ? track.begins(stretch) : meta.first;
            drain.from = Math.min(Math.max(came, i ? cpu.btsdrains[i - 1].time : meta.first), drain.time);
        });
        for (const kind of ["records", "drains", "locks", "events", "btsdrains"])
            cpu.times[kind] = Float64Array.from(cpu[kind], (thing) => thing.time);
    }
    model.shown = meta.shown.map((number) => model.cpus[number]);
    for (const cpu of model.cpus)
        cpu.missed = trace.missed.filter((gap) => gap.cpu === cpu.number);
    const byBegin = (a, b) => a.from - b.from;
    model.gaps = model.cpus.flatMap((cpu) => [...cpu.gaps, ...cpu.missed]).sort(byBegin);
    model.gaps.forEach((gap, i) => Object.assign(gap, { kind: "gap", index: i, time: gap.from }));
    for (const cpu of model.cpus) {
        cpu.holes = new Gaps(cpu.gaps.sort(byBegin));
        cpu.unread = new Gaps(cpu.missed.sort(byBegin));
        cpu.gaps = [...cpu.gaps, ...cpu.missed].sort(byBegin);
        const held = cpu.locks.filter((lock) => lock.timed);
        cpu.held = new Spans(held.map((lock) => ({ lock, from: lock.acquired, to: lock.released })).sort(byBegin));
        cpu.longestHeld = new Longest(cpu.locks.length, (i) => cpu.locks[i].timed
            ? cpu.locks[i].released - cpu.locks[i].acquired : 0);
    }
    model.holes = new Gaps(model.shown.flatMap((cpu) => cpu.holes.items).sort(byBegin));
    const byThread = new Map();
    for (const record of trace.records)
        if (record.tid !== NOBODY) {
            if (!byThread.has(record.tid))
                byThread.set(record.tid, []);
            byThread.get(record.tid).push(record);
        }
    for (const thread of model.threads) {
        thread.records = byThread.get(thread.tid) ?? [];
        thread.times = Float64Array.from(thread.records, (record) => record.time);
    }
}

/* What the log's keys say of a CPU's buffer, where no drain does. */
function areaOfKeys(cpu) {
    const number = (name) => keyOf.get(`ds.cpu.${cpu}.${name}`) ?? keyOf.get(`ds.${name}`) ?? "";
    if (Number(number("format")) === meta.arch) /* its records have physical addresses, which no key tells */
        return undefined;
    const [base, bytes, records] = ["buffer", "record_bytes", "records"].map(number);
    if (![base, bytes, records].every((text) => /^(0x[0-9a-f]{1,16}|\d{1,12})$/.test(text)))
        return undefined;
    return { base: BigInt(base), maximum: BigInt(base) + BigInt(bytes) * BigInt(records) };
}

/* The same four of architectural PEBS, from IA32_PEBS_BASE and IA32_PEBS_INDEX. */
function readRegisters(first, second) {
    const field = (value, layout, name) => {
        const [, bit, bits] = meta.layouts[layout].fields.find(([own]) => own === name);
        return value >> BigInt(bit) & (1n << BigInt(bits)) - 1n;
    };
    const base = field(first, "pebs_base", "address") << 12n;
    return { base, maximum: base + (4096n << field(first, "pebs_base", "SIZE")),
             index: base + (field(second, "pebs_index", "WR") << 4n),
             threshold: base + (field(second, "pebs_index", "THRESH") << 4n) };
}

/* The four pointers of the PEBS buffer, by Windows' names for them. */
function readArea(trace, drain) {
    const view = new DataView(trace.bytes.buffer, drain.bytes, drain.size), area = {};
    drain.fields = JSON.parse(drain.rows).map(([at, words, name, by, what, counter]) =>
        ({ at, size: 8 * words, name, by, what, counter }));
    const names = { PebsBufferBase: "base", PebsIndex: "index", PebsAbsoluteMaximum: "maximum",
                    PebsInterruptThreshold: "threshold" };
    for (const field of drain.fields)
        if (names[field.name])
            area[names[field.name]] = view.getBigUint64(field.at, true);
    if (drain.format === meta.arch)
        Object.assign(area, readRegisters(view.getBigUint64(0, true), view.getBigUint64(8, true)));
    if (area.base && area.maximum > area.base)
        drain.area = area;
}
