/* SPDX-License-Identifier: MIT */
/* From thing to thing by the arrow keys: along a lane, and to the lane above or below. */
"use strict";

/* A row by another layout's. */
const sameRow = (a, b) => !!a && !!b && a.kind === b.kind && a.number === b.number && a.thread === b.thread;

const KINDS_OF = { cpu: ["switch"], pebbles: ["record", "drain"], branches: ["btsdrain"], locks: ["lock"],
                   events: ["event"], thread: ["switch", "record"] }; /* the first, unless another is chosen */
const kindsOf = (row) => row.folded ? ["switch", "record"] : KINDS_OF[row.kind] ?? [];

/* What of a kind lies in a row, in the order of time: {count, at}. Of a thread, the switches its stretches began
 * with. */
function thingsOf(trace, model, row, kind) {
    if (row.kind !== "thread")
        return allOf(trace, model, kind, row.number);
    const { track, records } = row.thread;
    if (kind === "record")
        return { count: records.length, at: (i) => records[i] };
    const refs = track.refs.filter((ref, i, all) => ref !== NOBODY && ref !== all[i - 1]);
    return { count: refs.length, at: (i) => switchAt(trace, refs[i]) };
}

/* Where `thing` stands among those of its kind, `by` places on; where it is not one of them, the first behind `time` or
 * the last before it. Undefined: there is none of them. */
function besides({ count, at }, thing, time, by) {
    if (!count)
        return undefined;
    const first = at(0).kind;
    const i = thing?.kind === first ? firstWhere(count, (n) => at(n).index >= thing.index) + by
        : firstWhere(count, (n) => at(n).time >= time) - (by > 0 ? 0 : 1);
    return at(Math.min(Math.max(i, 0), count - 1));
}

/* The one that is nearest to a time. */
function nearest({ count, at }, time) {
    const i = firstWhere(count, (n) => at(n).time >= time);
    return i > 0 && (i === count || time - at(i - 1).time <= at(i).time - time) ? at(i - 1) : at(i);
}

class LaneWalk {
    constructor(view) {
        this.view = view;
        this.lane = this.time = undefined; /* the row that is walked in; where in time the walk from row to row began */
    }
    get middle() { return (this.view.look.from + this.view.look.to) / 2; }
    /* Something was chosen: in this row. */
    chose(row, thing) {
        this.lane = row;
        this.time = thing?.time;
    }
    kindIn(row) {
        const kinds = kindsOf(row), now = this.view.chosen?.kind;
        return kinds.includes(now) ? now : kinds[0];
    }
    /* The next in this lane. */
    along(by) {
        const { view } = this, { trace, model, chosen } = view;
        if (!chosen)
            return view.step(by);
        if (chosen.kind === "gap")
            return view.next("gap", by, chosen.cpu);
        const thing = besides(thingsOf(trace, model, this.lane, this.kindIn(this.lane)), chosen, chosen.time, by);
        view.choose(thing, { keep: this.lane });
    }
    /* To the next lane that has anything: what is nearest there. */
    across(by) {
        const { view } = this, { trace, model, rows } = view, time = this.time ?? this.middle;
        const now = rows.findIndex((row) => sameRow(row, this.lane));
        for (let i = now < 0 ? firstWhere(rows.length, (n) => rows[n].y >= view.scrolled) : now + by; rows[i]; i += by)
            for (const kind of kindsOf(rows[i]).length ? [this.kindIn(rows[i]), ...kindsOf(rows[i])] : []) {
                const things = thingsOf(trace, model, rows[i], kind);
                if (!things.count)
                    continue;
                view.choose(nearest(things, time), { keep: rows[i] });
                this.time = time;
                return;
            }
    }
    /* The thread that the lane, or what is chosen, is of. */
    get thread() {
        const { chosen, trace } = this.view;
        if (this.lane?.kind === "thread")
            return this.lane.thread.tid;
        return chosen?.kind === "switch" ? trace.switches.next[chosen.index] : chosen?.tid;
    }
}

const FOLDED_FROM = 9; /* CPUs: with so many each has one line at first */

/* Which CPUs have one line. */
class Folds {
    constructor(view) {
        this.view = view;
        this.most = view.model.shown.length >= FOLDED_FROM;
        this.unlike = new Set(); /* CPUs that are not as most are */
    }
    has(cpu) { return this.most !== this.unlike.has(cpu); }
    all() {
        this.most = !this.most;
        this.unlike.clear();
        this.changed();
        this.view.say(this.most ? "Each CPU in one line." : "Each CPU in all of its lines.");
    }
    one(cpu) {
        if (cpu === undefined)
            return;
        this.turn(cpu);
        this.changed();
        this.view.say(`CPU ${cpu} in ${this.has(cpu) ? "one line" : "all of its lines"}.`);
    }
    turn(cpu) {
        if (!this.unlike.delete(cpu))
            this.unlike.add(cpu);
    }
    /* One line has no place for it. */
    openFor(thing) {
        if (!thing || ["switch", "record", "gap"].includes(thing.kind) || !this.has(thing.cpu))
            return;
        this.turn(thing.cpu);
        this.view.resize();
    }
    changed() {
        const { view } = this, { chosen, walk } = view;
        view.resize();
        if (!chosen)
            return;
        if (walk.lane?.kind !== "thread")
            walk.lane = view.rowOf(chosen);
        view.scrollTo(view.rows.find((row) => sameRow(row, walk.lane)));
    }
}
