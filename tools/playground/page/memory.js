/* SPDX-License-Identifier: MIT */
/* The DS area, the buffers to scale, and the newest record. */
"use strict";

let before = { key: "", values: new Map() }; /* the DS area as it was shown before, and with which settings */

function showArea() {
    const rows = machine.elements("row"), now = new Map(), setting = settings.changed({});
    const old = before.key === setting ? before.values : new Map();
    const area = machine.number("debugctl") >> 7 & 1 ? "DS area of BTS" : "no DS area";
    by("area-title").textContent = isArchitectural() ? `PEBS registers, ${area}` : "DS area";
    by("area").replaceChildren(...rows.map((row) => {
        const key = row.name, value = hex(row.value, 16), changed = old.has(key) && old.get(key) !== value;
        now.set(key, value);
        return make("tr", { class: changed ? "changed" : "", "data-row": row.name },
                    make("td", { class: "at mono" }, hex(row.at, 2)), make("th", { scope: "row" }, row.name),
                    make("td", { class: `by ${row.by}`,
                                 title: row.by === "p" ? "the processor writes it" : "the driver writes it" }, row.by),
                    make("td", { class: "mono" }, value), make("td", { class: "what", title: row.what }, row.what));
    }));
    before = { key: setting, values: now };
}

/* Where records of architectural PEBS begin, and their bytes, up to the position: each by its header, with all its
 * fragments. */
function walk(to) {
    const bytes = machine.bytes("buffer"), view = new DataView(bytes.buffer, bytes.byteOffset), records = [];
    for (let at = 0, begin = 0; at + 16 <= to;) {
        const header = view.getBigUint64(at, true), size = Number(header & 0xFFFFn);
        if (size < 16)
            break;
        at += Math.ceil(size / 16) * 16;
        if (!bit(header, 31) && header !== BigInt(size)) {
            records.push([BigInt(begin), BigInt(at - begin)]);
            begin = at;
        }
    }
    return records;
}

const BTS_BYTES = 24;

/* Where the branch records lie that nobody has taken yet, the newest first: those below BtsIndex, and in a ring the
 * older ones above it. */
function branchPlaces(base, index) {
    const room = Number(settings.get("bts") ?? 0) + (settings.get("policy.fit") === "start_lt"); /* maximum + 1 byte */
    const written = Math.min(room, machine.number("bts_records") - machine.number("bts_drained"));
    const next = Number(index - base) / BTS_BYTES;
    return Array.from({ length: written }, (_, i) => base + BigInt((next - 1 - i + room) % room * BTS_BYTES));
}

function recordsOfOneSize(base, index, bytes) {
    return Array.from({ length: Math.max(0, Number((index - base) / BigInt(bytes))) },
                      (_, i) => [base + BigInt(i * bytes), BigInt(bytes)]);
}

/* One buffer: what is in it, and its four pointers, all to scale. */
function bufferView(title, words, bytes, newest, records, end = "absolute maximum") {
    const [base, index, maximum, threshold] = words;
    const room = maximum - base + BigInt(bytes), at = (value) => `${Number((value - base) * 100000n / room) / 1000}%`;
    const bar = make("div", { class: "bar" });
    for (const [start, size] of records) {
        const record = make("i", { class: `record${start === newest ? " newest" : ""}` });
        record.style.left = at(start);
        record.style.width = `calc(${Number(size * 100000n / room) / 1000}% - 2px)`;
        bar.append(record);
    }
    const marks = [["maximum", maximum, end], ["threshold", threshold, "threshold"],
                   ["index", index, "index"]];
    for (const [kind, value, name] of marks) {
        if (value - base > room) /* a threshold out of reach */
            continue;
        const mark = make("i", { class: `mark ${kind}`, title: name });
        mark.style.left = at(value);
        bar.append(mark);
    }
    const count = records.length;
    return make("figure", { class: "buffer" },
                make("figcaption", {}, make("h2", {}, title),
                     ` ${count} ${count === 1 ? "record" : "records"} of ${bytes} bytes`,
                     make("span", { class: "key index" }, "index"),
                     make("span", { class: "key threshold" }, "threshold"),
                     make("span", { class: "key maximum" }, end)), bar);
}

function showBuffers() {
    const rows = machine.elements("row"), views = [];
    const four = (name) => {
        const first = rows.findIndex((row) => row.name === name);
        return first < 0 ? undefined : rows.slice(first, first + 4).map((row) => row.value);
    };
    const bts = four("BtsBufferBase"), pebs = four("PebsBufferBase"), bytes = machine.number("record_bytes");
    const newest = machine.big("newest_address"), index = machine.big("pebs_index"), base = machine.big("pebs_base");
    if (isArchitectural() && (machine.big("pebs") || machine.number("records"))) {
        const at = index & 0x7FFFFF0n, words = [0n, at, 4096n << (base & 15n), index >> 32n & 0x7FFFFF0n];
        views.push(bufferView("PEBS buffer", words, bytes, newest - (base & ~0xFFFn), walk(Number(at)),
                              "end of the buffer"));
    } else if (pebs && (machine.big("pebs_enable") || machine.number("records"))) {
        views.push(bufferView("PEBS buffer", pebs, bytes, newest, recordsOfOneSize(pebs[0], pebs[1], bytes)));
    }
    if (bts)
        views.push(bufferView("BTS buffer", bts, BTS_BYTES, 0n,
                              branchPlaces(bts[0], bts[1]).map((at) => [at, BigInt(BTS_BYTES)])));
    if (!views.length)
        views.push(make("h2", {}, "No buffer is in use"));
    by("buffers").replaceChildren(...views);
}

const lettersOf = (name) => name.match(/^[A-Z_]*/)[0];

/* Three and more words of 0 one after the other are one row, where their names differ only by a number. */
function rowsOfRecord(fields) {
    const rows = [];
    for (const field of fields) {
        const last = rows.at(-1), nil = field.value === 0n && !field.means;
        const first = last?.fields[0], alike = first?.group === field.group
            && lettersOf(first.name) === lettersOf(field.name);
        if (nil && last?.nil && alike)
            last.fields.push(field);
        else
            rows.push({ nil, fields: [field] });
    }
    return rows.flatMap((row) => row.fields.length > 2 ? [row.fields] : row.fields.map((field) => [field]));
}

function recordRow(fields, begins, bytes) {
    const [field] = fields, at = Number(field.at), size = 8 * fields.length;
    const cell = (byte, text) => make("span", { class: byte ? "byte" : "byte nil" }, text);
    const cells = fields.length > 1 ? [cell(0, `00 … ${size} bytes of 00`)]
        : Array.from(bytes.subarray(at, at + 8), (byte) => cell(byte, hex(byte, 2)));
    const last = fields.at(-1).name.slice(lettersOf(field.name).length);
    const name = fields.length > 1 ? `${field.name}…${last}` : field.name;
    return make("tr", { class: begins ? "begins" : "", "data-field": name },
                make("td", { class: "group" }, begins ? field.group : ""), make("td", { class: "at mono" }, hex(at, 2)),
                make("td", { class: "mono eight" }, ...cells), make("th", { scope: "row" }, name),
                make("td", { class: "mono value" }, hex(field.value)),
                make("td", { class: "what", title: field.means || undefined }, field.means));
}

function showRecord() {
    const size = machine.number("newest_bytes"), body = by("record"), bytes = machine.bytes("newest");
    const step = machine.number("newest_step"), format = machine.number("format");
    by("record-section").hidden = !size && !machine.big("pebs");
    const when = step === machine.number("step") ? "this step" : `step ${step}`;
    const kind = isArchitectural() ? "architectural PEBS" : `format ${format}`;
    by("record-title").textContent = `Newest record: ${size ? `${kind}, ${size} bytes` : "none yet"}`;
    by("record-note").textContent = size ? `at ${hex(machine.big("newest_address"))}H, written in ${when}`
        : `the next one: ${kind}, ${machine.number("record_bytes")} bytes`;
    body.classList.toggle("fresh", size > 0 && step === machine.number("step"));
    let group = "";
    body.replaceChildren(...rowsOfRecord(machine.elements("field")).map((fields) => {
        const begins = fields[0].group !== group;
        group = fields[0].group;
        return recordRow(fields, begins, bytes);
    }));
}

function codeAt(address) {
    const listing = machine.listing(), own = Number((address - CODE) / INSN_BYTES);
    const kernel = Number((address - KERNEL) / INSN_BYTES) + settings.programLength() + 1;
    return address >= KERNEL ? listing[kernel] ?? "PMI handler" : listing[own] ?? "";
}

function showBranches() {
    const bytes = machine.bytes("bts");
    by("branch-section").hidden = !Number(settings.get("bts") ?? 0);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const pointer = (name) => machine.named("row", name)?.value ?? 0n;
    const base = pointer("BtsBufferBase"), places = branchPlaces(base, pointer("BtsIndex"));
    by("branches").replaceChildren(...places.map((at, i) => {
        const [from, to, flags] = [0, 8, 16].map((part) => view.getBigUint64(Number(at - base) + part, true));
        return make("tr", { class: i === 0 ? "newest" : "" },
                    make("td", { class: "at mono" }, hex(at)),
                    make("td", { class: "mono" }, hex(from)),
                    make("td", { class: "what" }, codeAt(from)), make("td", {}, "→"),
                    make("td", { class: "mono" }, hex(to)), make("td", { class: "what" }, codeAt(to)),
                    make("td", { class: "what" }, flags ? "predicted" : ""));
    }));
}

function showMemory() {
    showArea();
    showBuffers();
    showBranches();
    showRecord();
}
