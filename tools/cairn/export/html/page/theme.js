/* SPDX-License-Identifier: MIT */
/* Colours, light and dark: those of the style sheet, and one for each thread (thread_colours.h). */
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
                            "accent", "lock", "spin", "event", "threshold", "level", "onColour", "unknown"])
            this.colours[name] = style.getPropertyValue(`--${name}`).trim();
        this.palette = meta.palette[this.dark ? "dark" : "light"];
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

/* Names and colours of threads. */
const threads = {
    names: new Map(), colours: new Map(),
    read() {
        for (const [tid, colour, name] of meta.threads) {
            this.colours.set(tid, colour);
            if (tid !== IDLE && name !== undefined)
                this.names.set(tid, name);
        }
    },
    name(tid) {
        return tid === IDLE ? "idle" : tid === NOBODY ? "unknown" : `${this.names.get(tid) ?? "thread"}:${tid}`;
    },
    short(tid) { return this.names.get(tid) ?? this.name(tid); },
    colour(tid) { return theme.palette[this.colours.get(tid) ?? 0]; },
};
