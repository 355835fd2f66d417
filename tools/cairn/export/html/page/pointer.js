/* SPDX-License-Identifier: MIT */
/* What the pointer does: on the lanes, on the small picture of all of it, on the edge of the panel. */
"use strict";

class Pointer {
    constructor(view) {
        this.view = view;
    }
    /* What is at this place of the lanes: a thing, and words for it. */
    hit(x, y) {
        const top = y + element("scroller").scrollTop, time = this.view.look.time(x), reach = 7 * this.view.unit;
        const row = this.view.rowAt(top);
        if (!row)
            return undefined;
        const near = (list, times, more = () => 0) => {
            let best, least = reach;
            for (let i = lastAtOrBefore(times, this.view.look.time(x - reach)) + 1, n = 0;
                 i < list.length && times[i] <= this.view.look.time(x + reach) && n < 4096; i++, n++, work.steps++) {
                const far = Math.hypot(this.view.look.x(times[i]) - x, more(list[i]));
                if (far < least)
                    [best, least] = [list[i], far];
            }
            return best;
        };
        const { cpu } = row;
        const gaps = row.kind === "cpu" ? cpu.holes : row.kind === "pebbles" ? cpu.unread : undefined;
        const gap = gaps?.overlap(this.view.look.time(x - GAP_WIDTH), this.view.look.time(x + 2));
        if (gap && row.kind === "cpu")
            return gap;
        if (row.folded && top > row.y + row.height - 2 * FOLDED_DOTS * this.view.unit) {
            const below = near(cpu.records, cpu.times.records) ??
                cpu.unread.overlap(this.view.look.time(x - GAP_WIDTH), this.view.look.time(x + 2));
            if (below)
                return below;
        }
        const drain = row.kind === "pebbles" ? near(cpu.drains, cpu.times.drains) : undefined;
        if (drain && top > row.y + row.height - 12 * this.view.unit) /* where its triangle is */
            return drain;
        if (row.kind === "pebbles")
            return near(cpu.records, cpu.times.records, (r) => (top - row.y - row.height + 10 * this.view.unit +
                r.level * (row.height - 18 * this.view.unit)) / 6) ?? gap ?? drain;
        if (row.kind === "locks")
            return cpu.held.innermost(time)?.lock ?? near(cpu.locks, cpu.times.locks);
        if (row.kind === "branches") {
            const drain = cpu.btsdrains[lastAtOrBefore(cpu.times.btsdrains, time) + 1];
            return drain && drain.from <= time ? drain : near(cpu.btsdrains, cpu.times.btsdrains);
        }
        if (row.kind === "events")
            return near(cpu.events, cpu.times.events);
        const track = row.kind === "thread" ? row.thread.track : row.kind === "cpu" ? cpu.track : undefined;
        const record = row.kind === "thread" && near(row.thread.records, row.thread.times,
            () => Math.max(0, (top - row.y - 9 * this.view.unit)));
        if (record)
            return record;
        const i = track ? track.at(time) : -1;
        return i >= 0 && track.refs[i] !== NOBODY ? switchAt(this.view.trace, track.refs[i]) : undefined;
    }
    words(thing) {
        const s = this.view.trace.switches;
        switch (thing.kind) {
        case "switch":
            return `${threads.name(s.old[thing.index])} left` +
                `${s.detailed[thing.index] ? ` (${this.view.details.stateOf(thing.index)})` : ""}, ` +
                `${s.next[thing.index] === NOBODY ? "unknown" : threads.name(s.next[thing.index])} came`;
        case "record":
            return `PEBS record: ${thing.name || "unknown"}\n` +
                `${thing.tid === NOBODY ? thing.why : threads.name(thing.tid)}`;
        case "drain": return `epoch ${thing.epoch}: ${thing.reason}, ${thing.records} records, ${thing.lost} lost`;
        case "lock": return `${thing.name}, ${thing.timed ? `held ${span(thing.released - thing.acquired)}` : ""} by ` +
            `${threads.name(thing.tid)}`;
        case "btsdrain":
            return `${plural(thing.branches, "branch", "branches")} of ${threads.name(thing.tid)}, up to here ` +
                `(${thing.reason}), ${thing.lost} lost`;
        case "gap":
            return [thing.why === RECORDS ? `missing: ${thing.text}` : thing.text, causeOf(thing),
                    `${seconds(thing.from)} to ${seconds(thing.to)} s: ${span(thing.to - thing.from)}`]
                .filter(Boolean).join("\n");
        default: return thing.text;
        }
    }
    /* What goes on at a place of a track, for the tip. */
    stretchWords(x, y) {
        const top = y + element("scroller").scrollTop;
        const row = this.view.rowAt(top);
        const track = row?.kind === "thread" ? row.thread.track : row?.kind === "cpu" ? row.cpu.track : undefined;
        const i = track ? track.at(this.view.look.time(x)) : -1;
        if (i < 0)
            return "";
        const from = track.begins(i), to = track.ends(i), code = track.codes[i], long = span(to - from);
        if (row.kind === "cpu")
            return `${threads.name(code)} for ${long}`;
        const words = `${threads.name(row.thread.tid)}: ${stateName(code)} for ${long}`;
        const gap = isRunning(code) ? undefined : this.view.model.holes.overlap(from, to);
        if (!gap)
            return words;
        return `${words},\nif it did not run where ` + (gap.why === UNTOLD
            ? `nobody knows who ran on CPU ${gap.cpu}` : `switches of CPU ${gap.cpu} are missing`);
    }
    tip(x, y, clientX, clientY) {
        const tip = element("tip"), thing = x === undefined ? undefined : this.hit(x, y);
        const track = x === undefined ? "" : this.stretchWords(x, y);
        const words = [track, thing ? this.words(thing) : ""].filter(Boolean).join("\n");
        if (!same(thing, this.view.hover)) {
            this.view.hover = thing;
            this.view.draw();
        }
        tip.hidden = !words;
        if (!words)
            return;
        tip.textContent = words;
        tip.style.left = `${Math.min(clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
        const below = clientY + 18, fits = below + tip.offsetHeight <= innerHeight;
        tip.style.top = `${fits ? below : clientY - tip.offsetHeight - 10}px`;
    }
    listenLanes() {
        const { view } = this;
        const lanes = element("lanes"), at = (e) => {
            const { left, top } = lanes.getBoundingClientRect(); /* offsetX has no fractions */
            return [e.clientX - left, e.clientY - top];
        };
        let drag;
        lanes.addEventListener("wheel", (e) => {
            e.preventDefault();
            if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
                view.pan((e.deltaX || e.deltaY) / 1000);
            else
                view.zoom(Math.exp(Math.min(Math.max(e.deltaY, -200), 200) / 400), view.look.time(at(e)[0]));
        }, { passive: false });
        lanes.addEventListener("pointerdown", (e) => {
            lanes.setPointerCapture(e.pointerId);
            drag = { x: e.clientX, y: e.clientY, top: element("scroller").scrollTop, moved: false };
        });
        lanes.addEventListener("pointermove", (e) => {
            const [x, y] = at(e);
            view.pointer = view.look.time(x);
            if (drag) {
                drag.moved ||= Math.hypot(e.clientX - drag.x, e.clientY - drag.y) > 4;
                if (drag.moved) {
                    view.look.pan(-(e.clientX - (drag.last ?? drag.x)) * view.look.perPixel);
                    drag.last = e.clientX;
                    element("scroller").scrollTop = drag.top - (e.clientY - drag.y);
                    view.moved();
                    return;
                }
            }
            this.tip(x, y, e.clientX, e.clientY);
            view.draw();
        });
        lanes.addEventListener("pointerup", (e) => {
            if (drag && !drag.moved) {
                const [x, y] = at(e), thing = this.hit(x, y);
                if (thing)
                    view.choose(thing, { reveal: false, keep: view.rowAt(y + element("scroller").scrollTop) });
            }
            drag = undefined;
            element("scroller").focus({ preventScroll: true });
        });
        lanes.addEventListener("dblclick", (e) => view.zoom(0.3, view.look.time(at(e)[0])));
        lanes.addEventListener("pointerleave", () => {
            view.pointer = undefined;
            this.tip();
            view.draw();
        });
        element("scroller").addEventListener("scroll", () => view.draw());
    }
    listenOverview() {
        const { view } = this, overview = element("overview"), jump = (e) => {
            const time = view.look.first + e.offsetX / overview.clientWidth * (view.look.last - view.look.first);
            view.look.show(time - view.look.length / 2, time + view.look.length / 2);
            view.moved();
        };
        overview.addEventListener("pointerdown", (e) => {
            overview.setPointerCapture(e.pointerId);
            jump(e);
        });
        overview.addEventListener("pointermove", (e) => e.buttons && jump(e));
    }
    listenSplitter() {
        const splitter = element("splitter"), panel = element("panel");
        const set = (height) => {
            panel.style.maxHeight = "none";
            panel.style.height = `${Math.min(Math.max(height, 0), innerHeight * 0.8)}px`;
            this.view.resize();
        };
        splitter.addEventListener("pointerdown", (e) => splitter.setPointerCapture(e.pointerId));
        splitter.addEventListener("pointermove", (e) =>
            e.buttons && set(innerHeight - element("legend").offsetHeight - e.clientY - splitter.offsetHeight / 2));
        splitter.addEventListener("keydown", (e) => {
            const by = { ArrowUp: 30, ArrowDown: -30 }[e.key];
            if (!by)
                return;
            e.preventDefault();
            e.stopPropagation(); /* elsewhere they zoom */
            set(panel.offsetHeight + by);
        });
    }
}
