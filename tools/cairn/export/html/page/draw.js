/* SPDX-License-Identifier: MIT */
/* The lanes on their canvas. What lies closer together than pixels do is summed up before it is drawn, so that a frame
 * takes as much work as there are pixels, however long the trace is. */
"use strict";

const COLUMN = 2; /* pixels, where many stretches share one */

/* Which row of its CPU a thing stands in. */
const ROW_OF = { switch: "cpu", record: "pebbles", drain: "pebbles", lock: "locks", event: "events",
                 btsdrain: "branches" };
const rowOf = (thing) => thing.kind !== "gap" ? ROW_OF[thing.kind] : thing.why === RECORDS ? "pebbles" : "cpu";

const GAP_WIDTH = 4; /* pixels, at least: what is missing must be seen */
const FOLDED_DOTS = 6; /* units, of a CPU's row that is folded */
const OVERVIEW_BAND = 4; /* pixels: more CPUs than have so many share one */

/* What stands below what. `unit`: pixels of 1/16 of the page's type size. `isFolded`: of a CPU's number; it has one row
 * then, records as dots at its bottom. */
function layOut(model, unit, isFolded) {
    const rows = [];
    let y = 0;
    const add = (kind, height, more) => {
        rows.push({ kind, y, height: height * unit, ...more });
        y += height * unit;
    };
    add("space", 4);
    model.shown.forEach((cpu) => {
        const { number } = cpu;
        if (isFolded(number)) {
            add("cpu", 22, { cpu, number, folded: true });
            return;
        }
        add("space", 6);
        add("cpu", 30, { cpu, number });
        if (cpu.records.length || cpu.drains.length || cpu.missed.length)
            add("pebbles", 54, { cpu, number });
        if (cpu.btsdrains.length)
            add("branches", 18, { cpu, number });
        if (cpu.locks.length)
            add("locks", 18, { cpu, number });
        if (cpu.events.length)
            add("events", 16, { cpu, number });
    });
    if (model.threads.length)
        add("title", 34, { text: "Threads" });
    for (const thread of model.threads)
        add("thread", 22, { thread });
    add("space", 16);
    return { rows, height: y };
}

class Painter {
    constructor(canvas, model, look) {
        this.canvas = canvas;
        this.pen = canvas.getContext("2d");
        this.model = model;
        this.look = look; /* the Window */
        this.shapes = 0;
    }

    /* ---- pens ---- */
    rect(x, y, width, height, colour) {
        const left = Math.max(x, 0), right = Math.min(x + width, this.look.width);
        if (right <= left)
            return;
        this.shapes++;
        this.pen.fillStyle = colour;
        this.pen.fillRect(left, y, right - left, height);
    }
    /* `size`: of a root font of 16 pixels. No text is smaller than 12. */
    setFont(size) {
        const pixels = Math.max(12, size * this.unit);
        this.pen.font = `${pixels}px ${this.font}`;
        return pixels;
    }
    text(words, x, y, colour, width = Infinity, size = 13) {
        const pixels = this.setFont(size);
        if (width !== Infinity) {
            const room = Math.floor(width / (pixels * 0.56));
            if (room < 3)
                return;
            if (words.length > room)
                words = `${words.slice(0, room - 1)}…`;
        }
        this.shapes++;
        this.pen.fillStyle = colour;
        this.pen.fillText(words, x, y);
    }

    /* ---- a frame ---- */
    draw(rows, scroll, height, state) {
        const ratio = devicePixelRatio || 1, { canvas, pen, look } = this, colours = theme.colours;
        this.state = state;
        this.shapes = 0;
        if (canvas.width !== Math.round(look.width * ratio) || canvas.height !== Math.round(height * ratio)) {
            canvas.width = Math.round(look.width * ratio);
            canvas.height = Math.round(height * ratio);
        }
        pen.setTransform(ratio, 0, 0, ratio, 0, 0);
        pen.fillStyle = colours.paper;
        pen.fillRect(0, 0, look.width, height);
        pen.textBaseline = "middle";
        for (const tick of look.ticks(110 * this.unit))
            this.rect(Math.round(look.x(tick.time)), 0, 1, height, colours.line);
        pen.translate(0, -scroll);
        const seen = rows.slice(firstWhere(rows.length, (i) => rows[i].y + rows[i].height > scroll),
                                firstWhere(rows.length, (i) => rows[i].y >= scroll + height));
        this.bands(seen);
        for (const row of seen)
            this[row.kind]?.(row);
        this.marks(seen, scroll, height);
        pen.setTransform(1, 0, 0, 1, 0, 0);
    }

    /* Of a track: each stretch that is in sight (draw), or where there are too many column by column (sum). */
    stretches(track, draw, sum) {
        const { look } = this;
        if (!track.count)
            return;
        const first = Math.max(track.at(look.from), 0), last = track.at(look.to);
        if (last - first < look.width / COLUMN) {
            for (let i = first; i <= last; i++)
                draw(i, look.x(track.begins(i)), look.x(track.ends(i)));
            return;
        }
        for (let x = 0, i = first; x < look.width; x += COLUMN) {
            const from = look.time(x), to = look.time(x + COLUMN), next = track.at(to);
            if (next >= 0 && to > track.begins(0) && from < track.end)
                sum(Math.max(i, 0), next, from, to, x);
            i = next;
        }
    }
    share(track, from, to, counts) {
        return (track.upTo(to, counts) - track.upTo(from, counts)) / (to - from);
    }

    /* ---- rows ---- */
    cpu(row) {
        const { track } = row.cpu, y = row.y, height = row.height - 4 * this.unit, { onColour } = theme.colours;
        const middle = y + 1 + (row.folded ? height - 0.7 * FOLDED_DOTS * this.unit : height) / 2; /* above the dots */
        this.rect(0, y, this.look.width, height, theme.colours.lane);
        this.stretches(track, (i, x, end) => {
            const tid = track.codes[i];
            if (isUnknown(tid))
                this.unknown(x, y, end - x, height);
            if (!isBusy(tid))
                return;
            this.fade(tid);
            this.rect(x, y, Math.max(end - x - 0.5, 1), height, threads.colour(tid));
            const left = Math.max(x, 0), width = Math.min(end, this.look.width) - left;
            if (width > 34 * this.unit)
                this.text(threads.short(tid), left + 5 * this.unit, middle, onColour, width - 8 * this.unit,
                          row.folded ? 12 : 14);
        }, (first, last, from, to, x) => {
            const longest = track.longest(first, last, isBusy), known = 1 - this.share(track, from, to, isUnknown);
            if (known < 1)
                this.rect(x, y, COLUMN, height * (1 - known), theme.colours.unknown);
            if (longest < 0)
                return;
            const tall = Math.max(2, height * Math.min(1, this.share(track, from, to, isBusy)));
            this.fade(track.codes[longest]);
            this.rect(x, y + height - tall, COLUMN, tall, threads.colour(track.codes[longest]));
        });
        this.pen.globalAlpha = 1;
        this.gaps(row.cpu.holes, y, height);
        if (row.folded) {
            this.gaps(row.cpu.unread, y + height - FOLDED_DOTS * this.unit, FOLDED_DOTS * this.unit);
            this.dots(row.cpu.records, row.cpu.times.records, y + height - 2 * this.unit);
        }
    }
    unknown(x, y, width, height) {
        const left = Math.max(x, 0), room = Math.min(x + width, this.look.width) - left;
        this.rect(x, y, width, height, theme.colours.unknown);
        if (room > 70 * this.unit)
            this.text("unknown", left + 5 * this.unit, y + height / 2 + 1, theme.colours.faint, room, 12);
    }
    fade(tid) {
        const { only } = this.state;
        this.pen.globalAlpha = only === undefined || only === tid ? 1 : 0.18;
    }

    /* The PEBS buffer: records as dots, as high as they lay in it; it fills up to a drain, and begins again. */
    pebbles(row) {
        const { cpu } = row, { look, unit } = this;
        const top = row.y + 4 * unit, height = row.height - 14 * unit, floor = top + height;
        const high = (share) => floor - share * (height - 4 * unit) - 2 * unit;
        this.rect(0, top, look.width, height, theme.colours.lane);
        this.gaps(cpu.unread, top, height);
        const first = lastAtOrBefore(cpu.times.drains, look.from), end = lastAtOrBefore(cpu.times.drains, look.to) + 1;
        const size = 5 * unit, { records } = cpu, times = cpu.times.records;
        const seen = [lastAtOrBefore(times, look.from), lastAtOrBefore(times, look.to) + 1];
        if (seen[1] - seen[0] < look.width / 4)
            this.fill(cpu, ...seen, high, floor);
        if (end - first < look.width / 4)
            for (let i = Math.max(first, 0); i < end + 1 && i < cpu.drains.length; i++)
                this.epoch(cpu.drains, i, top, floor, high, end - first < look.width / 24);
        const column = size / 2;
        for (let i = lastAtOrBefore(times, look.from - size * look.perPixel) + 1; i < records.length; ) {
            const left = Math.floor(look.x(times[i]) / column) * column;
            if (left > look.width + size)
                break;
            const next = Math.max(lastAtOrBefore(times, look.time(left + column)) + 1, i + 1);
            if (next - i <= 3)
                for (let k = i; k < next; k++)
                    this.dot(look.x(times[k]), high(records[k].level), records[k]);
            else
                this.heap(left, records[i], records[next - 1], column, high);
            i = next;
        }
    }
    epoch(drains, i, top, floor, high, few) {
        const { look, unit } = this, drain = drains[i], { threshold } = theme.colours;
        const from = i ? look.x(drains[i - 1].time) : 0, to = look.x(drain.time);
        if (drain.code === meta.drain.unthrottle) /* nothing was counted up to here */
            this.rect(from, top, to - from, floor - top, theme.hatch(this.pen, "stopped"));
        if (drain.code !== meta.drain.start && drain.area && drain.area.threshold < drain.area.maximum) {
            const room = Number(drain.area.maximum - drain.area.base);
            const y = Math.round(high(Number(drain.area.threshold - drain.area.base) / room)) + 0.5;
            this.dashes(from, y, to, threshold);
        }
        this.rect(Math.round(to), top, 1.5, floor - top, threshold);
        const { pen } = this;
        if (!few || to < -20 || to > look.width + 20)
            return;
        this.shapes++;
        pen.fillStyle = threshold;
        pen.beginPath();
        pen.moveTo(to - 5 * unit, floor + 8 * unit);
        pen.lineTo(to + 6 * unit, floor + 8 * unit);
        pen.lineTo(to + 0.75, floor);
        pen.fill();
    }
    dashes(from, y, to, colour) {
        const { pen } = this;
        this.shapes++;
        pen.strokeStyle = colour;
        pen.lineWidth = 1;
        pen.setLineDash([5, 4]);
        pen.beginPath();
        pen.moveTo(Math.max(from, 0), y);
        pen.lineTo(Math.min(to, this.look.width), y);
        pen.stroke();
        pen.setLineDash([]);
    }
    /* How full the buffer was: each record adds its own, a drain takes all. */
    fill(cpu, first, end, high, floor) {
        const { look } = this, { records } = cpu;
        for (let i = Math.max(first, 0); i < end && i < records.length; i++) {
            const x = look.x(records[i].time), next = records[i + 1];
            const to = next && next.epoch === records[i].epoch ? next.time : records[i].drain?.time ?? records[i].time;
            const y = high(records[i].level);
            this.rect(x, y, look.x(to) - x, floor - y, theme.colours.level);
        }
    }
    /* All at the same height; of those that would hide each other, the first. */
    dots(records, times, y) {
        const { look } = this;
        for (let i = lastAtOrBefore(times, look.from) + 1; i < times.length && times[i] <= look.to; ) {
            this.dot(look.x(times[i]), y, records[i]);
            i = Math.max(lastAtOrBefore(times, look.time(look.x(times[i]) + 4)) + 1, i + 1);
        }
    }
    dot(x, y, record) {
        const { pen, unit, state } = this;
        const marked = same(state.selected, record) || same(state.hover, record);
        this.fade(record.tid);
        this.shapes++;
        pen.fillStyle = theme.colours.pebble;
        pen.beginPath();
        pen.arc(x, y, (marked ? 7 : 3.6) * unit, 0, 7);
        pen.fill();
        if (marked) {
            pen.strokeStyle = theme.colours.ink;
            pen.lineWidth = 2 * unit;
            pen.stroke();
        }
        pen.globalAlpha = 1;
    }
    /* More dots than there is room for: from the lowest to the highest, all of the buffer where it was drained. */
    heap(x, first, last, width, high) {
        const drained = first.epoch !== last.epoch;
        const low = drained ? 0 : Math.min(first.level, last.level);
        const top = high(drained ? 1 : Math.max(first.level, last.level));
        this.pen.globalAlpha = 0.6;
        this.rect(x, top - 2, width, high(low) - top + 4, theme.colours.pebble);
        this.pen.globalAlpha = 1;
    }

    locks(row) {
        const { cpu } = row, { look, unit } = this, height = row.height - 4 * unit, times = cpu.times.locks;
        const first = lastAtOrBefore(times, look.from) + 1;
        let end = lastAtOrBefore(times, look.to) + 1;
        if (end < cpu.locks.length)
            end++; /* one may be held beyond the edge */
        const cycles = meta.hz / (Number(keyOf.get(`session.${meta.session}.tsc_hz`)) || Infinity);
        for (let i = first, next; i < end; i = next) { /* of many that were let go within half a pixel, one */
            next = Math.min(Math.max(lastAtOrBefore(times, look.time(look.x(times[i]) + 0.5)), i) + 1, end);
            const all = next - i <= 3, longest = all ? i : Math.max(cpu.longestHeld.of(i, next - 1), i);
            for (let k = longest; k < (all ? next : longest + 1); k++)
                this.lock(row, cpu.locks[k], height, cycles);
        }
    }
    lock(row, l, height, cycles) {
        const { look, unit } = this, { lock, spin, ink } = theme.colours;
        const from = l.timed ? l.acquired : l.time, to = l.timed ? l.released : l.time;
        const x = look.x(from), width = Math.max(look.x(to) - x, 2), waited = l.waited * cycles / look.perPixel;
        work.steps++;
        if (waited >= 1)
            this.rect(x - waited, row.y + height / 3, waited, height / 3, spin);
        this.rect(x, row.y, width, height, lock);
        if (width > 40 * unit)
            this.text(l.name, Math.max(x, 0) + 4 * unit, row.y + height / 2 + 1, ink, width - 8 * unit, 12);
    }
    /* The BTS buffer: a box for what a drain has taken out. */
    branches(row) {
        const { cpu } = row, { look, unit } = this, times = cpu.times.btsdrains, height = row.height - 4 * unit;
        this.rect(0, row.y, look.width, height, theme.colours.lane);
        for (let i = lastAtOrBefore(times, look.from) + 1, next; i < times.length; i = next) {
            next = Math.max(lastAtOrBefore(times, look.time(look.x(times[i]) + 1)), i) + 1;
            const drain = cpu.btsdrains[i], from = look.x(drain.from), to = look.x(times[next - 1]);
            work.steps++;
            if (from > look.width)
                break;
            this.fade(drain.tid);
            this.rect(from, row.y, Math.max(to - from - 1, 1), height, threads.colour(drain.tid));
            this.pen.globalAlpha = 1;
            this.rect(to - 1, row.y, 1.5, height, theme.colours.threshold);
            const left = Math.max(from, 0), room = Math.min(to, look.width) - left - 8 * unit;
            if (next === i + 1 && room > 24 * unit)
                this.text(plural(drain.branches, "branch", "branches"), left + 4 * unit, row.y + height / 2 + 1,
                          theme.colours.onColour, room, 11.5);
        }
    }
    events(row) {
        const { cpu } = row, { look, unit } = this, times = cpu.times.events;
        for (let i = lastAtOrBefore(times, look.from) + 1; i < times.length && times[i] <= look.to; ) {
            const x = look.x(times[i]);
            this.rect(Math.round(x), row.y, 1.5, row.height - 5 * unit, theme.colours.event);
            i = Math.max(lastAtOrBefore(times, look.time(x + COLUMN)) + 1, i + 1);
        }
    }

    title(row) {
        this.rect(0, row.y + row.height - 8 * this.unit, this.look.width, 1, theme.colours.faint);
    }

    thread(row) {
        const { track, tid, records, times } = row.thread, { look, unit } = this, { faint } = theme.colours;
        const y = row.y, height = row.height - 5 * unit, mid = y + height / 2;
        this.fade(tid);
        this.stretches(track, (i, x, end) => {
            const code = track.codes[i], width = Math.max(end - x - 0.5, 1);
            const left = Math.max(x, 0), room = Math.min(end, look.width) - left - 8 * unit;
            if (isRunning(code)) {
                this.rect(x, y, width, height, threads.colour(tid));
            } else if (isReady(code)) {
                this.rect(x, y + height * 0.12, width, height * 0.76, theme.colours.ready);
                if (room > 46 * unit)
                    this.text(stateName(code), left + 5 * unit, mid + 1, theme.colours.onColour, room, 11.5);
            } else if (isResting(code)) {
                this.rect(x, mid - unit, width, 2 * unit, theme.colours.waiting);
                if (room > 46 * unit) {
                    const words = stateName(code);
                    this.setFont(11.5);
                    const used = Math.min(this.pen.measureText(words).width, room) + 6 * unit;
                    this.rect(left + 4 * unit, y, used, height, theme.colours.paper);
                    this.text(words, left + 7 * unit, mid + 1, faint, room, 11.5);
                }
            }
        }, (first, last, from, to, x) => {
            const rests = track.longest(first, last, isResting), ready = this.share(track, from, to, isReady);
            const running = this.share(track, from, to, isRunning);
            if (rests >= 0)
                this.rect(x, mid - unit, COLUMN, 2 * unit, theme.colours.waiting);
            if (ready > 0)
                this.rect(x, y + height * (1 - Math.min(1, running + ready)), COLUMN, height * ready,
                          theme.colours.ready);
            if (running > 0)
                this.rect(x, y + height - Math.max(2, height * running), COLUMN, Math.max(2, height * running),
                          threads.colour(tid));
        });
        this.dots(records, times, y + 2 * unit);
        this.pen.globalAlpha = 1;
    }

    /* Behind the threads: what does not run may have run where switches are missing. */
    bands(rows) {
        const first = rows.find((row) => row.kind === "thread"), last = rows.at(-1);
        if (!first)
            return;
        this.pen.globalAlpha = 0.3;
        this.gaps(this.model.holes, first.y, last.y + last.height - first.y);
        this.pen.globalAlpha = 1;
    }
    /* Where something is missing. What lies behind a gap that is drawn already, in the same pixels, is passed over; but
     * what was damaged or lost is always seen. */
    gaps(gaps, y, height) {
        const { look, pen } = this;
        for (const [kind, spans] of Object.entries(gaps.byKind)) {
            const colour = kind === "unknown" ? theme.colours.unknown : theme.hatch(pen, kind);
            for (let i = spans.endsBehind(look.time(-GAP_WIDTH)), shown = 0; i < spans.count; ) {
                const x = look.x(spans.from[i]), left = Math.max(x, shown);
                const end = Math.max(look.x(spans.items[i].to), x + GAP_WIDTH, shown + 1);
                work.steps++;
                if (x > look.width)
                    break;
                this.rect(left, y, end - left, height, theme.colours.paper);
                this.rect(left, y, end - left, height, colour);
                shown = end;
                i = spans.endsBehind(look.time(shown), i + 1);
            }
        }
    }

    /* What is chosen, and where the pointer is. */
    marks(rows, scroll, height) {
        const { selected, pointer } = this.state, { look } = this;
        if (pointer !== undefined)
            this.rect(Math.round(look.x(pointer)), scroll, 1, height, theme.colours.faint);
        if (!selected)
            return;
        const x = look.x(selected.time), { accent } = theme.colours;
        this.rect(x - 0.75, scroll, 1.5, height, accent);
        const row = rows.find((r) => sameRow(r, this.state.lane));
        if (!row || selected.kind === "record")
            return;
        const end = selected.kind === "gap" ? look.x(selected.to) : selected.kind === "lock" ? x : x + 3;
        const from = selected.kind === "lock" && selected.timed ? look.x(selected.acquired) : x - 3;
        this.pen.strokeStyle = accent;
        this.pen.lineWidth = 2.5;
        this.shapes++;
        this.pen.strokeRect(from, row.y - 2, Math.max(end - from, 4), row.height);
    }

    /* ---- the small picture of all of it ---- */
    overview(canvas, width, height) {
        const ratio = devicePixelRatio || 1, pen = canvas.getContext("2d"), all = this.look, cpus = this.model.shown;
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
        pen.setTransform(ratio, 0, 0, ratio, 0, 0);
        pen.fillStyle = theme.colours.lane;
        pen.fillRect(0, 0, width, height);
        const bands = Math.min(cpus.length, Math.floor(height / OVERVIEW_BAND)), each = height / bands;
        for (let n = 0; n < bands; n++)
            this.band(pen, cpus.slice(Math.round(n * cpus.length / bands), Math.round((n + 1) * cpus.length / bands)),
                      each * n, each - 1, width);
    }
    /* Some CPUs together: how busy they were on average, whether one has records there; and what any of them misses. */
    band(pen, cpus, y, height, width) {
        const { first, last } = this.look, length = last - first, alone = cpus.length === 1;
        for (let x = 0; x < width; x++) {
            const from = first + x / width * length, to = first + (x + 1) / width * length;
            let busy = 0, found = 0;
            for (const cpu of cpus) {
                busy += cpu.track.count ? this.share(cpu.track, from, to, isBusy) / cpus.length : 0;
                found += lastAtOrBefore(cpu.times.records, to) - lastAtOrBefore(cpu.times.records, from);
            }
            pen.fillStyle = theme.colours.waiting;
            pen.fillRect(x, y + height * (1 - busy), 1, height * busy);
            pen.fillStyle = theme.colours.pebble;
            if (found)
                pen.fillRect(x, y + height - 2, 1, alone ? 2 : 1);
        }
        for (const cpu of cpus)
            for (const [kind, spans] of Object.entries(cpu.holes.byKind))
                for (const gap of spans.items) {
                    const x = (gap.from - first) / length * width, end = (gap.to - first) / length * width;
                    pen.fillStyle = theme.colours[kind];
                    if (alone || kind === "gap") /* the others are no loss: where one CPU has one, others run */
                        pen.fillRect(x, y, Math.max(end - x, 2), height);
                }
    }
}

/* What a code of a thread's track is called. */
function stateName(code) {
    return code === UNKNOWN ? "unknown" : code >= WAITS ? meta.reasons[code - WAITS] ?? "unknown" : meta.states[code];
}
