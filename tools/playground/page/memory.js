/* SPDX-License-Identifier: MIT */
/* The DS area, the buffers to scale, and the newest record. */
"use strict";

let before = new Map(); /* values of the DS area in the step that was shown before */

function showArea() {
    const rows = machine.elements("row", machine.number("rows")), now = new Map();
    by("area").replaceChildren(...rows.map((row) => {
        const key = row.name, value = hex(row.value, 16), changed = before.has(key) && before.get(key) !== value;
        now.set(key, value);
        return make("tr", { class: changed ? "changed" : "", "data-row": row.name },
                    make("td", { class: "at mono" }, hex(row.at, 2)), make("th", { scope: "row" }, row.name),
                    make("td", { class: `by ${row.by}`,
                                 title: row.by === "p" ? "the processor writes it" : "the driver writes it" }, row.by),
                    make("td", { class: "mono" }, value), make("td", { class: "what" }, row.what));
    }));
    before = now;
}

/* One buffer: what is in it, and its four pointers, all to scale. */
function bufferView(title, words, bytes, newest) {
    const [base, index, maximum, threshold] = words.map((row) => row.value);
    const room = maximum - base + BigInt(bytes), at = (value) => `${Number((value - base) * 100000n / room) / 1000}%`;
    const bar = make("div", { class: "bar" });
    for (let start = base; start + BigInt(bytes) <= index; start += BigInt(bytes)) {
        const record = make("i", { class: `record${start === newest ? " newest" : ""}` });
        record.style.left = at(start);
        record.style.width = `calc(${Number(BigInt(bytes) * 100000n / room) / 1000}% - 2px)`;
        bar.append(record);
    }
    const marks = [["maximum", maximum, "absolute maximum"], ["threshold", threshold, "threshold"],
                   ["index", index, "index"]];
    for (const [kind, value, name] of marks) {
        if (value - base > room) /* a threshold out of reach */
            continue;
        const mark = make("i", { class: `mark ${kind}`, title: name });
        mark.style.left = at(value);
        bar.append(mark);
    }
    const count = Number((index - base) / BigInt(bytes));
    return make("figure", { class: "buffer" },
                make("figcaption", {}, make("b", {}, title),
                     ` ${count} ${count === 1 ? "record" : "records"} of ${bytes} bytes`,
                     make("span", { class: "key index" }, "index"), make("span", { class: "key threshold" }, "threshold"),
                     make("span", { class: "key maximum" }, "absolute maximum")), bar);
}

function showBuffers() {
    const rows = machine.elements("row", machine.number("rows")), views = [];
    const four = (name) => {
        const first = rows.findIndex((row) => row.name === name);
        return first < 0 ? undefined : rows.slice(first, first + 4);
    };
    const bts = four("BtsBufferBase"), pebs = four("PebsBufferBase");
    views.push(bufferView("PEBS buffer", pebs, machine.number("record_bytes"), machine.big("newest_address")));
    if (bts)
        views.push(bufferView("BTS buffer", bts, 24, 0n));
    by("buffers").replaceChildren(...views);
}

function showRecord() {
    const size = machine.number("newest_bytes"), body = by("record"), bytes = machine.bytes("newest");
    const step = machine.number("newest_step");
    by("record-title").textContent = size
        ? `Newest record: format ${machine.number("format")}, ${size} bytes at ${hex(machine.big("newest_address"))}H`
        : "Newest record: none yet";
    by("record-note").textContent = size ? step === machine.number("step") ? "written in this step" : `written in step ${step}`
        : `the next one is of format ${machine.number("format")}, ${machine.number("record_bytes")} bytes`;
    body.classList.toggle("fresh", size > 0 && step === machine.number("step"));
    let group = "";
    body.replaceChildren(...machine.elements("field", machine.number("fields")).map((field) => {
        const at = Number(field.at), begins = field.group !== group;
        group = field.group;
        const cells = Array.from(bytes.subarray(at, at + 8), (byte) =>
            make("span", { class: byte ? "byte" : "byte nil" }, hex(byte, 2)));
        return make("tr", { class: begins ? "begins" : "", "data-field": field.name },
                    make("td", { class: "group" }, begins ? field.group : ""),
                    make("td", { class: "at mono" }, hex(at, 2)), make("td", { class: "mono eight" }, ...cells),
                    make("th", { scope: "row" }, field.name), make("td", { class: "mono value" }, hex(field.value)),
                    make("td", { class: "what" }, field.means));
    }));
}

function showMemory() {
    showArea();
    showBuffers();
    showRecord();
}
