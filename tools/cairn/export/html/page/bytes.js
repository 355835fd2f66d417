/* SPDX-License-Identifier: MIT */
/* Bytes and their fields, side by side: who points at one sees the other. */
"use strict";

function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {}))
        if (value !== undefined && value !== false)
            element.setAttribute(name, value === true ? "" : value);
    element.append(...children.filter((child) => child !== undefined && child !== ""));
    return element;
}

const hex = (value, digits) => value.toString(16).padStart(digits, "0");

/* Little-endian, up to 64 bits, from bit `bit` on. */
function readBits(bytes, bit, bits) {
    let value = 0n;
    for (let at = (bit + bits - 1) >> 3; at >= bit >> 3; at--)
        value = value << 8n | BigInt(bytes[at] ?? 0);
    return value >> BigInt(bit & 7) & (1n << BigInt(bits)) - 1n;
}

/* What a value means, by the way it is to be shown (layouts.c). `about`: what else is known there. */
const shownAs = {
    dec: () => "",
    hex: () => "",
    bool: (value) => value ? "yes" : "no",
    time: (value) => `${seconds(Number(value - BigInt(meta.origin)))} s`,
    delta: (value) => `+${span(Number(value))}`,
    thread: (value) => value ? threads.name(Number(value)) : "",
    form: (value) => `${meta.form_names[Number(value)]}, ${meta.forms[Number(value)].bytes} bytes`,
    slot: (value, about) => `TidTable[${value}]: ${threads.name(about.slots[Number(value)])}`,
    increment: (value, about) => `${about.base} + ${value} = ${about.base + Number(value)}`,
    state: (value) => Number(value) < meta.maximum_wait_reason ? `Waiting: ${meta.reasons[Number(value)]}`
        : `${meta.states[Number(value) - meta.maximum_wait_reason] ?? "?"} (${meta.maximum_wait_reason} + ` +
          `${Number(value) - meta.maximum_wait_reason})`,
    kthread: (value) => meta.states[Number(value)] ?? "?",
    reason: (value) => meta.reasons[Number(value)] ?? "?",
    mode: (value) => value ? "user" : "kernel",
    ticks: (value, about, bits) => `${value} timer ${value === 1n ? "tick" : "ticks"}` +
        (bits < 32 && value === (1n << BigInt(bits)) - 1n ? " or more" : ""),
    cycles: (value) => `${value} cycles`,
    lock: (value, about) => about.lock ?? "",
    caller: (value, about) => about.caller ?? "",
    from: (value, about) => about.from ?? "",
    to: (value, about) => about.to ?? "",
};

/* The fields of a layout whose first byte is byte `at` of `bytes`. */
function fieldsOf(layout, bytes, at, group, about = {}) {
    return layout.fields.map(([name, bit, bits, as]) => {
        const value = readBits(bytes, 8 * at + bit, bits);
        const isHex = ["hex", "lock", "caller", "from", "to"].includes(as);
        const number = isHex ? `0x${hex(value, Math.ceil(bits / 4))}` : String(value);
        return { group, name, bit: 8 * at + bit, bits, value, number, means: shownAs[as](value, about, bits) };
    });
}

class ByteView {
    /* `fields`: {group, name, bit, bits, number, means}. `marks`: byte ranges that stand out, {from, to, kind, choose};
     * `choose` is called where such a byte is clicked. */
    constructor(bytes, fields, { marks = [], address } = {}) {
        this.bytes = bytes;
        this.fields = fields;
        this.cells = [];
        this.rows = [];
        this.owner = new Array(bytes.length);
        fields.forEach((field, i) => {
            for (let at = field.bit >> 3; at < (field.bit + field.bits + 7) >> 3; at++)
                (this.owner[at] ??= []).push(i);
        });
        this.element = make("div", { class: "byteview" }, this.dump(marks, address), this.table());
        for (const event of ["mouseover", "focusin"])
            this.element.addEventListener(event, (e) => this.point(e.target));
        for (const event of ["mouseleave", "focusout"])
            this.element.addEventListener(event, () => this.light([]));
    }

    dump(marks, address) {
        const pre = make("div", { class: "dump", role: "group", "aria-label": `${this.bytes.length} bytes` });
        for (let at = 0; at < this.bytes.length; at += 16) {
            const line = make("div", { class: "line" }, make("span", { class: "offset" },
                                                             address === undefined ? hex(at, 3)
                                                                 : hex(address + BigInt(at), 16)));
            for (let i = at; i < at + 16 && i < this.bytes.length; i++) {
                const cell = make("span", { class: `byte${this.owner[i] ? " known" : ""}${i % 16 === 8 ? " half" : ""}`,
                                            "data-at": i }, hex(this.bytes[i], 2));
                this.cells.push(cell);
                line.append(cell);
            }
            pre.append(line);
        }
        for (const mark of marks)
            for (let i = mark.from; i < mark.to && i < this.cells.length; i++) {
                this.cells[i].classList.add(mark.kind);
                if (mark.choose) {
                    this.cells[i].classList.add("link");
                    this.cells[i].addEventListener("click", mark.choose);
                }
            }
        return pre;
    }
    table() {
        const body = make("tbody");
        let group;
        this.fields.forEach((field, i) => {
            if (field.group && field.group !== group)
                body.append(make("tr", { class: "group" }, make("th", { colspan: 3, scope: "colgroup" }, field.group)));
            group = field.group;
            const row = make("tr", { tabindex: i ? -1 : 0, "data-field": i, "data-name": field.name,
                                     "data-value": field.number },
                             make("td", { class: "at" }, field.bits % 8 || field.bit % 8
                                 ? `${hex(field.bit >> 3, 2)}.${field.bit & 7}` : hex(field.bit >> 3, 2)),
                             make("th", { scope: "row" }, field.name),
                             make("td", {}, make("span", { class: "value" }, field.number), " ",
                                  make("span", { class: "means" }, field.means)));
            this.rows.push(row);
            body.append(row);
        });
        body.addEventListener("keydown", (e) => this.step(e));
        return make("table", { class: "fields" }, make("caption", {}, "Fields"), body);
    }
    step(e) {
        const by = { ArrowDown: 1, ArrowUp: -1 }[e.key], now = this.rows.indexOf(e.target);
        if (!by || now < 0)
            return;
        e.preventDefault();
        e.stopPropagation();
        const next = this.rows[Math.min(Math.max(now + by, 0), this.rows.length - 1)];
        this.rows[now].tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
    }
    point(target) {
        const cell = target.closest("[data-at]"), row = target.closest("[data-field]");
        if (row)
            this.light([Number(row.dataset.field)]);
        else if (cell)
            this.light(this.owner[cell.dataset.at] ?? [], true);
        else
            this.light([]);
    }
    light(fields, show = false) {
        for (const element of this.element.querySelectorAll(".lit"))
            element.classList.remove("lit");
        for (const i of fields) {
            const { bit, bits } = this.fields[i];
            this.rows[i].classList.add("lit");
            if (show)
                this.rows[i].scrollIntoView({ block: "nearest" });
            for (let at = bit >> 3; at < (bit + bits + 7) >> 3; at++)
                this.cells[at]?.classList.add("lit");
        }
        this.onLight?.(fields);
    }
}

/* A word, bit by bit, the highest first, each field in a colour of its own. */
function bitStrip(bytes, fields) {
    const strip = make("div", { class: "bits" });
    const low = Math.min(...fields.map((field) => field.bit)), all = 8 * bytes.length;
    for (let from = 0; from < all; from += 32) {
        const count = Math.min(32, all - from), word = make("div", { class: "word" });
        word.style.setProperty("--bits", count);
        for (let bit = from + count - 1; bit >= from; bit--) {
            const i = fields.findIndex((f) => f.bit - low <= bit && bit < f.bit - low + f.bits);
            const first = i >= 0 && bit === fields[i].bit - low + fields[i].bits - 1;
            word.append(make("span", { class: `bit f${i % 6}${first ? " first" : ""}`, "data-bit-field": i },
                             make("small", {}, first || bit === fields[i]?.bit - low ? String(bit - from) : ""),
                             String(bytes[bit >> 3] >> (bit & 7) & 1)));
        }
        const here = fields.map((f, i) => ({ f, i })).filter(({ f }) => f.bit - low >= from && f.bit - low < from + 32);
        for (const { f, i } of here.reverse())
            word.append(make("span", { class: `name f${i % 6}`, style: `grid-column: span ${f.bits}`,
                                       "data-bit-field": i, title: `${f.name}: ${f.means || f.number}` }, f.name));
        strip.append(word);
    }
    return strip;
}
