/* SPDX-License-Identifier: MIT */
/* Colours, light and dark: those of the style sheet, and one for each thread. */
"use strict";

const theme = {
    chosen: "", /* "light", "dark"; "": as the system likes it */
    colours: {},
    get dark() {
        return this.chosen ? this.chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    },
    toggle() {
        this.chosen = this.dark ? "light" : "dark";
        this.apply();
    },
    apply() {
        document.documentElement.dataset.theme = this.dark ? "dark" : "light";
        const style = getComputedStyle(document.documentElement);
        for (const name of ["paper", "lane", "line", "ink", "faint", "pebble", "ready", "waiting", "gap", "stopped",
                            "accent", "lock", "spin", "event", "threshold", "level", "onReady", "unknown"])
            this.colours[name] = style.getPropertyValue(`--${name}`).trim();
        threads.paint(this.dark);
        this.hatches = {};
    },
    /* Lines across, of a colour: what is not there. */
    hatch(context, name) {
        if (!this.hatches[name]) {
            const tile = document.createElement("canvas"), size = 8;
            tile.width = tile.height = size;
            const pen = tile.getContext("2d");
            pen.strokeStyle = this.colours[name];
            pen.lineWidth = 2;
            for (const x of [-size, 0, size]) {
                pen.beginPath();
                pen.moveTo(x, size);
                pen.lineTo(x + size, 0);
                pen.stroke();
            }
            this.hatches[name] = context.createPattern(tile, "repeat");
        }
        return this.hatches[name];
    },
};

/* Names and colours of threads. What is called alike up to a slash has one hue: "hog/0" and "hog/1". */
const threads = {
    names: new Map(), colours: new Map(), kinds: new Map(),
    read() {
        for (const [tid, name] of meta.threads)
            if (tid !== IDLE) {
                this.names.set(tid, name);
                this.member(tid); /* in the log's order, so that a part of it has the same colours */
            }
    },
    name(tid) {
        return tid === IDLE ? "idle" : tid === NOBODY ? "unknown" : `${this.names.get(tid) ?? "thread"}:${tid}`;
    },
    short(tid) { return this.names.get(tid) ?? this.name(tid); },
    paint(dark) {
        this.colours.clear();
        this.dark = dark;
    },
    /* Its hue, and which of that hue's threads it is. */
    member(tid) {
        const kind = this.short(tid).split("/")[0];
        if (!this.kinds.has(kind))
            this.kinds.set(kind, { hue: (this.kinds.size * 137.5 + 250) % 360, members: new Map() });
        const { hue, members } = this.kinds.get(kind);
        if (!members.has(tid))
            members.set(tid, members.size);
        return { hue, number: members.get(tid) };
    },
    colour(tid) {
        let colour = this.colours.get(tid);
        if (!colour) {
            const { hue, number } = this.member(tid), shade = number % 4 * 0.035;
            colour = this.dark ? `oklch(${0.66 - shade} 0.12 ${hue})` : `oklch(${0.82 - shade} 0.11 ${hue})`;
            this.colours.set(tid, colour);
        }
        return colour;
    },
};
