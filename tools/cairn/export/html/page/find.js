/* SPDX-License-Identifier: MIT */
/* Looking for things: what the page opens with; the next of a kind; and the search box: a time, a thread, a function, a
 * lock. */
"use strict";

/* All things of a kind, in their order; of one CPU only, where that is given. */
function allOf(trace, model, kind, cpu) {
    if (kind === "switch") {
        const refs = cpu === undefined ? undefined : model.cpus[cpu].track.refs;
        const skip = refs?.length && refs[0] === NOBODY ? 1 : 0; /* before its first switch */
        return { count: refs ? refs.length - skip : trace.switches.count,
                 at: (i) => switchAt(trace, refs ? refs[i + skip] : i) };
    }
    const all = kind === "gap" ? model.gaps : trace[`${kind}s`];
    const some = cpu === undefined ? all : kind === "gap" ? model.cpus[cpu].gaps : model.cpus[cpu][`${kind}s`];
    return { count: some.length, at: (i) => some[i] };
}

/* {thing, from, to}: a record from the middle of the trace of which as much is known as of any, and the time in which
 * its buffer filled up. Without records it is a drain of branches; undefined: there are none either. */
function firstLook(trace, model) {
    const known = trace.records.filter((r) => r.timed && r.name && r.tid !== NOBODY && r.drain);
    const some = [known, trace.records, trace.btsdrains].find((things) => things.length) ?? [];
    const thing = some[some.length >> 1];
    if (!thing)
        return undefined;
    const { drains, btsdrains } = model.cpus[thing.cpu], ends = thing.kind === "record" ? drains : btsdrains;
    const times = ends.map((drain) => drain.time), next = firstWhere(times.length, (i) => times[i] >= thing.time);
    const from = times[next - 1] ?? model.first, to = times[next] ?? model.last;
    return { thing, from: from - (to - from) / 12, to: to + (to - from) / 12 };
}

class Finder {
    constructor(trace, model) {
        this.trace = trace;
        this.model = model;
    }
    /* {time}; or {tid}, of the first thread that is called so; or {thing}, the next one behind `from` whose function or
     * lock is; undefined: nothing. */
    find(text, from) {
        const words = text.trim().toLowerCase(), time = timeFrom(text);
        if (!words)
            return undefined;
        if (time !== undefined)
            return { time };
        const thread = this.model.threads.find((t) => threads.name(t.tid).toLowerCase().includes(words));
        if (thread)
            return { tid: thread.tid };
        const hits = [...this.trace.records, ...this.trace.locks].filter((t) => t.name.toLowerCase().includes(words));
        const thing = hits.filter((t) => t.time > from).reduce((a, b) => a && a.time <= b.time ? a : b, undefined);
        return thing || hits[0] ? { thing: thing ?? hits[0] } : undefined;
    }
}
