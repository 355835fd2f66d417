/* SPDX-License-Identifier: MIT */
/* Times in words, and the stretch of time that is looked at. */
"use strict";

/* Units since the beginning as seconds, with as many places as are asked for. */
function seconds(units, places = 7) {
    if (meta.from_session_start)
        return (units / meta.hz).toFixed(places);
    /* of the session's clock: more digits than a number has */
    const all = BigInt(meta.origin) + BigInt(Math.round(units)), hz = BigInt(meta.hz);
    return `${all / hz}.${String(all % hz * 10n ** BigInt(places) / hz).padStart(places, "0")}`;
}

/* As `cairn` writes it: what is left of the last digit is cut off. */
function span(units) {
    const us = units / meta.hz * 1e6, cut = (value, places) => (Math.floor(value * 10 ** places + 1e-6) / 10 ** places)
        .toFixed(places);
    return us < 0.95 ? `${Math.round(us * 1000)} ns` : us < 1000 ? `${cut(us, 1)} µs`
        : us < 1e6 ? `${cut(us / 1000, 2)} ms` : `${cut(us / 1e6, 3)} s`;
}

/* "0.2631", "1.5 ms": units since the beginning; undefined: it is no time. */
function timeFrom(text) {
    const found = /^\s*(\d+(?:\.\d*)?|\.\d+)\s*(s|ms|µs|us|ns)?\s*$/.exec(text);
    if (!found)
        return undefined;
    const scale = { s: 1, ms: 1e-3, "µs": 1e-6, us: 1e-6, ns: 1e-9 }[found[2] ?? "s"];
    const before = meta.from_session_start ? 0 : Number(BigInt(meta.origin)) / meta.hz;
    return (Number(found[1]) * scale - before) * meta.hz;
}

/* What is looked at: from..to of all there is, over so many pixels. */
class Window {
    constructor(first, last) {
        this.first = first;
        this.last = Math.max(last, first + 1);
        this.from = this.first;
        this.to = this.last;
        this.width = 1;
    }
    get length() { return this.to - this.from; }
    get perPixel() { return this.length / this.width; }
    x(time) { return (time - this.from) / this.perPixel; }
    time(x) { return this.from + x * this.perPixel; }

    show(from, to) {
        const all = this.last - this.first, margin = all * 0.02;
        const length = Math.min(Math.max(to - from, 20), all + 2 * margin); /* no closer than 20 units */
        const middle = (from + to) / 2;
        this.from = Math.min(Math.max(middle - length / 2, this.first - margin), this.last + margin - length);
        this.to = this.from + length;
    }
    zoom(factor, time) {
        const length = this.length * factor, share = (time - this.from) / this.length;
        this.show(time - share * length, time + (1 - share) * length);
    }
    pan(units) { this.show(this.from + units, this.to + units); }
    showAll() { this.show(this.first, this.last); }
    /* Moves as little as shows it well. */
    reveal(time) {
        if (time < this.from + this.length * 0.05 || time > this.to - this.length * 0.05)
            this.show(time - this.length / 2, time + this.length / 2);
    }

    /* Where the axis has its lines: round times, at least so many pixels apart. */
    ticks(apart) {
        const least = apart * this.perPixel / meta.hz, power = 10 ** Math.floor(Math.log10(least));
        const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least) ?? 10 * power;
        const places = Math.max(0, Math.min(9, -Math.floor(Math.log10(step) + 1e-9)));
        const ticks = [];
        for (let n = Math.ceil(this.from / meta.hz / step); n * step * meta.hz <= this.to && ticks.length < 1000; n++)
            ticks.push({ time: n * step * meta.hz, places });
        return ticks;
    }
}
