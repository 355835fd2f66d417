/* SPDX-License-Identifier: MIT */
/* The steps as a line: what happened in each, and where we are. Steps that were reached stay drawn after going back. */
"use strict";

const timeline = {
    marks: new Uint8Array(0), furthest: 0, key: "",

    /* How many steps the line has room for. */
    get span() { return Math.max(64, Math.ceil((this.furthest + 8) / 64) * 64); },

    show() {
        const step = machine.number("step"), now = machine.bytes("marks"), key = settings.changed({});
        if (key !== this.key) {
            this.key = key;
            this.furthest = 0;
        }
        if (step >= this.furthest) {
            this.furthest = step;
            this.marks = now.slice(0, step + 1);
        }
        this.draw(step);
    },
    draw(step) {
        const canvas = by("timeline"), { width, height } = canvas.getBoundingClientRect();
        const scale = devicePixelRatio, style = getComputedStyle(document.documentElement);
        const colour = (name) => style.getPropertyValue(`--${name}`).trim();
        canvas.width = Math.round(width * scale);
        canvas.height = Math.round(height * scale);
        const pen = canvas.getContext("2d"), x = (at) => 4 + at * (width - 8) / this.span, middle = height / 2;
        pen.scale(scale, scale);
        pen.fillStyle = colour("line");
        pen.fillRect(x(0), middle - 1, x(this.span) - x(0), 2);
        pen.fillStyle = colour("accent");
        pen.fillRect(x(0), middle - 1, x(step) - x(0), 2);
        pen.fillRect(x(step) - 1.5, 2, 3, height - 4);
        for (let at = 0; at <= this.furthest; at++) {
            const mark = this.marks[at];
            if (mark & MARK.handler) {
                pen.fillStyle = colour("own");
                pen.fillRect(x(at) - x(1) / 2 + 2, 4, x(1) - x(0) + 1, height - 8);
            }
        }
        const labelled = { pmi: -100, drain: -100 }; /* where the last label is: no two over each other */
        const label = (kind, text, at, y) => {
            if (x(at) - labelled[kind] > 36)
                pen.fillText(text, labelled[kind] = x(at), y);
        };
        for (let at = 0; at <= this.furthest; at++) {
            const mark = this.marks[at];
            pen.globalAlpha = at <= step ? 1 : 0.45;
            if (mark & MARK.overflow && !(mark & (MARK.record | MARK.drop))) {
                pen.fillStyle = colour("ready");
                pen.fillRect(x(at) - 1.5, middle - 6, 3, 12);
            }
            if (mark & (MARK.record | MARK.branch)) {
                pen.fillStyle = colour("pebble");
                pen.beginPath();
                pen.arc(x(at), middle, mark & MARK.record ? 4.5 : 2.5, 0, 7);
                pen.fill();
            }
            if (mark & MARK.drop) {
                pen.strokeStyle = colour("pebble");
                pen.lineWidth = 2;
                pen.beginPath();
                pen.arc(x(at), middle, 4, 0, 7);
                pen.stroke();
            }
            pen.font = `700 12px ${style.getPropertyValue("--sans")}`;
            pen.textAlign = "center";
            pen.fillStyle = colour("ink");
            if (mark & MARK.pmi)
                label("pmi", "PMI", at, 10);
            if (mark & MARK.drain) {
                pen.fillStyle = colour("drain");
                label("drain", "drain", at, height - 1);
            }
        }
        pen.globalAlpha = 1;
    },
    at(event) {
        const { left, width } = by("timeline").getBoundingClientRect();
        return Math.min(this.furthest, Math.max(0, Math.round((event.clientX - left - 4) * this.span / (width - 8))));
    },
};
