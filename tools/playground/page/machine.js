/* SPDX-License-Identifier: MIT */
/* The model, compiled to WebAssembly, and its state: one block of memory, read by the table of its fields. */
"use strict";

const MARK = { overflow: 1, record: 2, drop: 4, pmi: 8, drain: 16, branch: 32, handler: 64 };

const machine = {
    module: undefined, exports: undefined, layout: undefined, fields: new Map(), catalog: undefined,

    load() {
        const text = document.getElementById("wasm").textContent;
        const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
        this.module = new WebAssembly.Module(bytes);
        this.exports = new WebAssembly.Instance(this.module).exports;
        this.layout = JSON.parse(this.text(this.exports.play_layout()));
        this.catalog = JSON.parse(this.text(this.exports.play_catalog()));
        for (const [name, offset, count, bytes] of this.layout.fields)
            this.fields.set(name, { offset, count, bytes });
    },
    /* Another machine of the same kind, with a memory and settings of its own. */
    twin() {
        return Object.assign(Object.create(this), { exports: new WebAssembly.Instance(this.module).exports });
    },
    memory(at, size) { return new Uint8Array(this.exports.memory.buffer, at, size); },
    text(at) {
        const all = new Uint8Array(this.exports.memory.buffer);
        return new TextDecoder().decode(all.subarray(at, all.indexOf(0, at)));
    },
    get state() { return this.exports.play_state(); },

    /* "": it is open; else what is wrong with the settings, and nothing has changed. */
    open(settings) {
        const at = this.exports.play_input(), bytes = new TextEncoder().encode(settings);
        const room = this.exports.play_input_size();
        const input = this.memory(at, room);
        input.fill(0);
        input.set(bytes.subarray(0, room));
        return this.exports.play_open() ? this.text(this.exports.play_error()) : "";
    },
    to(step) { this.exports.play_to(step); },
    run(marks) { return this.exports.play_run(marks) !== 0; },

    /* Of the state: a 64-bit number; the same as a Number; bytes; a text. */
    big(name, i = 0) {
        const { offset } = this.fields.get(name);
        return new DataView(this.exports.memory.buffer).getBigUint64(this.state + offset + 8 * i, true);
    },
    number(name, i = 0) { return Number(this.big(name, i)); },
    bytes(name) {
        const { offset, count, bytes } = this.fields.get(name);
        return this.memory(this.state + offset, count * bytes);
    },
    string(name, at = 0) { return this.text(this.state + this.fields.get(name).offset + at); },
    sentences() {
        return Array.from({ length: this.number("said_count") },
                          (_, i) => this.string("said", i * this.layout.sentence));
    },
    listing() {
        return Array.from({ length: this.number("listing_count") },
                          (_, i) => this.string("listing", i * this.layout.listing_text));
    },
    /* Rows of the DS area ("row"), or the words of the newest record ("field"): objects by the layout of such an
     * element. */
    elements(name) {
        const { bytes } = this.fields.get(name), parts = Object.entries(this.layout[name]);
        const view = new DataView(this.exports.memory.buffer), start = this.state + this.fields.get(name).offset;
        const count = this.number(`${name}s`);
        return Array.from({ length: count }, (_, i) => Object.fromEntries(parts.map(([part, offset]) => {
            const at = start + i * bytes + offset;
            const value = part === "at" || part === "value" ? view.getBigUint64(at, true)
                : part === "by" ? String.fromCharCode(view.getUint8(at)) : this.text(at);
            return [part, value];
        })));
    },
    named(name, which) { return this.elements(name).find((each) => each.name === which); },
};
