/* SPDX-License-Identifier: MIT */
/* What is known of the thing that was chosen: in words, and in the bytes it comes from. */
"use strict";

/* Rows of a list: [what, value, data name]. */
function facts(rows) {
    const list = make("dl", { class: "facts" });
    for (const [what, value, name] of rows)
        if (value !== undefined && value !== "")
            list.append(make("dt", {}, what), make("dd", { "data-fact": name ?? what.toLowerCase() }, value));
    return list;
}

const section = (title, ...children) => make("section", {}, make("h3", {}, title), ...children);
const address = (value) => `0x${hex(value, 16)}`;

const BRANCHES_AT_ONCE = 200; /* rows; the others are asked for */

class Details {
    constructor(trace, model, choose) {
        this.trace = trace;
        this.model = model;
        this.choose = choose;
    }
    /* {title, parts}: what the panel is to hold. */
    of(thing) { return this[thing.kind](thing); }
    slice(at, size) { return this.trace.bytes.subarray(at, at + size); }

    /* A button that chooses another thing. */
    link(words, thing) {
        const button = make("button", { type: "button", class: "link" }, words);
        button.addEventListener("click", () => this.choose(thing));
        return button;
    }

    /* ---- PEBS records ---- */
    record(r) {
        const bytes = this.slice(r.bytes, r.size), { drain } = r;
        const fields = wordsOf(this.trace, r).flatMap(({ group, name, at, means }) => [
            { group, name, bit: 8 * at, bits: 64, number: hex(readBits(bytes, 8 * at, 64), 16), means },
            ...(group === "HEADER" && name === "header" ? this.bitsOf("arch_header", bytes, at, group) : []),
        ]);
        const mates = this.model.cpus[r.cpu].records.filter((other) => other.epoch === r.epoch);
        const number = mates.indexOf(r);
        return {
            title: `PEBS record ${number} of epoch ${r.epoch}, CPU ${r.cpu}`,
            parts: [
                section("What it says", facts([
                    ["Time", `${seconds(r.time)} s${r.timed ? "" : " (of its drain: it has none of its own)"}`],
                    ["Thread", r.tid === NOBODY ? r.why : threads.name(r.tid)],
                    ["Function", r.name || "unknown"],
                    [r.after ? "Next IP" : "IP", address(r.ip), "ip"],
                    ["Address", address(r.address), "address"],
                    ["Format", `${r.format}, ${r.size} bytes`],
                ]), this.area(r)),
                section("Its bytes", new ByteView(bytes, fields, {}).element),
                section(this.areaName(r), drain ? this.areaView(drain, r)
                    : make("p", {}, "The drain of this epoch is not in the log.")),
            ],
        };
    }

    /* ---- the DS area and the buffer it describes ---- */
    drain(d) {
        const start = d.code === meta.drain.start, taken = start ? [] : [
            ["Records", String(d.records)], ["Lost", d.lost],
            ["In the log", d.complete ? "all of them" : "not all of them"],
        ];
        return {
            title: `${start ? "Start" : "Drain"} of epoch ${d.epoch}, CPU ${d.cpu}`,
            parts: [
                section("What it says", facts([["Time", `${seconds(d.time)} s`], ["Reason", d.reason], ...taken]),
                        this.area({ cpu: d.cpu, epoch: d.epoch, drain: d, empty: start })),
                section(this.areaName(d), this.areaView(d)),
            ],
        };
    }
    areaName({ format }) { return format === meta.arch ? "Registers of architectural PEBS" : "DS area"; }
    /* The bits of a word that are not 0. */
    bitsOf(layout, bytes, at, group) {
        return fieldsOf(meta.layouts[layout], bytes, at, group).filter((field) => field.value);
    }
    areaView(drain, record) {
        const bytes = this.slice(drain.bytes, drain.size), arch = drain.format === meta.arch;
        const layoutOf = (at) => at === 0 ? "pebs_base" : at === 8 ? "pebs_index" : "cfg_c";
        const fields = drain.fields.flatMap(({ at, size, name, by, what, counter }) => [{
            name, bit: 8 * at, bits: 8 * size, number: hex(readBits(bytes, 8 * at, 64), 16),
            means: [what, counter, by === "p" ? "moved on by the processor" : ""].filter(Boolean).join("; "),
        }, ...(arch && size === 8 ? this.bitsOf(layoutOf(at), bytes, at) : [])]);
        const behind = record && record.address + BigInt(record.size);
        const then = record && drain.area ? make("p", { class: "note" },
            `As its drain found ${arch ? "them" : "it"}. When this record had been written, ` +
            (arch ? `IA32_PEBS_INDEX pointed ${behind - drain.area.base} bytes behind the base.`
                : `PebsIndex was ${address(behind)}.`)) : "";
        const used = keyOf.get("ds.bts") !== "off" && (keyOf.get("ds.store") ?? "bts") === "bts";
        const store = arch ? make("p", { class: "note" }, used ? "The Debug Store holds branch records (BTS) only."
            : "The Debug Store is not used: there are no branch records (BTS).") : "";
        return make("div", {}, then, store, new ByteView(bytes, fields).element);
    }
    /* The buffer to scale: a place for each record, what was in it (`empty`: not yet), and which one this is. */
    area({ cpu, epoch, drain, index, kind, empty }) {
        const records = this.model.cpus[cpu].records.filter((r) => r.epoch === epoch && !empty);
        const area = drain?.area, own = drain?.format === meta.arch; /* then each record says how large it is */
        const size = (own && records[0]?.size) || drain?.recordBytes;
        if (!area || !size || area.maximum - area.base > 1n << 24n || (own && records.some((r) => r.size !== size)))
            return "";
        const room = Number((area.maximum - area.base) / BigInt(size)), due = Number(area.threshold - area.base) / size;
        const held = new Map(records.map((r) => [Math.floor(Number(r.address - area.base) / size), r]));
        const slots = make("div", { class: "slots", role: "group", "aria-label": "PEBS buffer" });
        if (room > 512)
            return "";
        for (let i = 0; i < room; i++) {
            const r = held.get(i), own = r && kind === "record" && r.index === index;
            const slot = r ? this.link("", r) : make("span");
            slot.className = `slot${r ? " held" : ""}${own ? " own" : ""}${i >= due ? " beyond" : ""}`;
            slot.title = r ? `record ${i}: ${r.name || address(r.ip)}, ${threads.name(r.tid)}` : `place ${i}: free`;
            if (r) {
                slot.setAttribute("aria-label", slot.title);
                slot.tabIndex = own ? 0 : -1;
            }
            slots.append(slot);
        }
        const words = `${room} places of ${size} bytes; ` + (area.threshold < area.maximum
            ? `PMI from ${Math.round(due)} on` : "no PMI: the threshold lies beyond the end");
        return make("figure", {}, slots, make("figcaption", {}, words));
    }

    /* ---- switches ---- */
    /* The switches that lie in a batch, first to last. */
    batchOf(i) {
        const s = this.trace.switches, batch = s.batch[i], cpu = s.cpu[i], inside = [];
        for (let k = this.trace.batches[batch].first; k < s.count && inside.length < 1024; k++)
            if (s.batch[k] === batch)
                inside.push(k);
            else if (s.cpu[k] === cpu)
                break;
        return inside;
    }
    switch({ index: i }) {
        const s = this.trace.switches, batch = this.trace.batches[s.batch[i]], whole = s.form[i] === meta.form.event;
        const bytes = this.slice(batch.bytes, batch.size), inside = this.batchOf(i), form = meta.forms[s.form[i]];
        const waited = s.form[i] === meta.form.full || whole ? `${s.wait[i]} timer ticks` : "";
        const words = facts([
            ["Time", `${seconds(s.time[i])} s, CPU ${s.cpu[i]}`], ["Left", threads.name(s.old[i]), "old"],
            ["State", this.stateOf(i), "state"], ["Priority", s.detailed[i] ? String(s.priority[i]) : ""],
            ["Came", s.next[i] === NOBODY ? "unknown" : threads.name(s.next[i]), "new"],
            ["Had waited", waited, "waited"], ["Written as", meta.form_names[s.form[i]], "form"],
        ]);
        const about = whole ? {} : this.about(bytes, batch.head, s.at[i], form);
        const layout = whole ? meta.layouts.contextswap : form;
        const own = fieldsOf(layout, bytes, s.at[i], whole ? "WMI_CONTEXTSWAP" : "this switch", about);
        const rest = this.headFields(bytes, batch.head);
        if (!whole)
            rest.push(...fieldsOf(meta.layouts.batch, bytes, batch.head, "PERFINFO_CCSWAP_BUFFER")
                .filter((f) => !/\[/.test(f.name) || f.value));
        const view = new ByteView(bytes, [...own, ...rest], {
            marks: inside.map((k, n) => ({
                from: s.at[k], to: s.at[k] + meta.forms[s.form[k]].bytes,
                kind: k === i ? "own" : n % 2 ? "odd" : "even",
                choose: k === i ? undefined : () => this.choose(switchAt(this.trace, k)),
            })),
        });
        const strip = whole ? "" : this.linked(bitStrip(bytes.subarray(s.at[i], s.at[i] + form.bytes), own), view);
        const place = whole ? "" : ` ${inside.indexOf(i)} of ${inside.length} in its batch`;
        return {
            title: `Context switch${place}, CPU ${s.cpu[i]}`,
            parts: [
                section("What it says", words, whole ? "" : this.slotTable(bytes, batch.head, about.slot)),
                section(whole ? "Event 0524H" : `Its bits, and its batch (0525H, ${bytes.length} bytes)`, strip,
                        view.element),
            ],
        };
    }
    stateOf(i) {
        const s = this.trace.switches;
        if (!s.detailed[i])
            return "";
        if (s.raw[i])
            return `state or reason ${s.reason[i]}`;
        return s.state[i] === meta.state.waiting ? `Waiting: ${meta.reasons[s.reason[i]] ?? "unknown"}`
            : meta.states[s.state[i]] ?? "unknown";
    }
    /* The TidTable of a batch, and which of its slots the switch at `at` has. */
    about(bytes, head, at, form) {
        const table = fieldsOf(meta.layouts.batch, bytes, head, "");
        const slots = table.filter((f) => f.name.startsWith("TidTable")).map((f) => Number(f.value));
        const bases = table.filter((f) => f.name.startsWith("ThreadBase")).map((f) => Number(f.value) << 24 >> 24);
        const field = form.fields.find(([, , , as]) => as === "slot");
        const slot = field ? Number(readBits(bytes, 8 * at + field[1], field[2])) : -1;
        return { slots, bases, slot, base: bases[slot] };
    }
    slotTable(bytes, head, used) {
        const { slots, bases } = this.about(bytes, head, head, { fields: [] }), body = make("tbody");
        slots.forEach((tid, n) => {
            if (tid)
                body.append(make("tr", n === used ? { class: "lit" } : {}, make("td", {}, String(n)),
                                 make("td", {}, threads.name(tid)), make("td", {}, String(bases[n]))));
        });
        const titles = ["slot", "thread", "base"].map((title) => make("th", {}, title));
        return make("table", { class: "slottable" }, make("caption", {}, "TidTable"),
                    make("thead", {}, make("tr", {}, ...titles)), body);
    }
    headFields(bytes, head) {
        const { header } = meta.layouts;
        if (head < header.bytes || bytes[2] !== meta.perfinfo64)
            return [];
        const fields = fieldsOf(header, bytes, 0, "PERFINFO_TRACE_HEADER");
        if (fields.find((f) => f.name === "PebsIndex follows").value)
            fields.push({ group: "PERFINFO_TRACE_HEADER", name: "PebsIndex", bit: 8 * header.bytes, bits: 64,
                          number: `0x${hex(readBits(bytes, 8 * header.bytes, 64), 16)}`,
                          means: "where the next PEBS record goes" });
        return fields;
    }
    /* Bits and rows that light up together. Both have the same fields first. */
    linked(strip, view) {
        strip.addEventListener("mouseover", (e) => {
            const cell = e.target.closest("[data-bit-field]");
            view.light(cell && cell.dataset.bitField >= 0 ? [Number(cell.dataset.bitField)] : []);
        });
        strip.addEventListener("mouseleave", () => view.light([]));
        view.onLight = (fields) => {
            for (const cell of strip.querySelectorAll("[data-bit-field]"))
                cell.classList.toggle("lit", fields.includes(Number(cell.dataset.bitField)));
        };
        return strip;
    }

    /* ---- branches ---- */
    btsdrain(d) {
        const all = branchesOf(this.trace, d), bytes = section("");
        const show = ({ from, to, at, size }, i) => bytes.replaceChildren(make("h3", {}, `Bytes of branch ${i}`),
            new ByteView(this.slice(at, size), fieldsOf(meta.layouts.branch, this.slice(at, size), 0, "", { from, to }))
                .element);
        if (all.length)
            show(all[0], 0);
        return {
            title: `Branches of ${threads.name(d.tid)}, drain ${d.epoch}, CPU ${d.cpu}`,
            parts: [
                section("What it says", facts([
                    ["Drained", `${seconds(d.time)} s`], ["Reason", d.reason], ["Thread", threads.name(d.tid)],
                    ["Branches", String(d.branches)],
                    [d.interrupting ? "Lost after" : "Overwritten before", d.lost, "lost"],
                    ["In the log", d.seen === d.branches ? "all of them" : `${d.seen} of them`],
                ]), make("p", { class: "note" }, "The oldest first; records hold addresses, no times. 'cairn bts' " +
                    "shows them by thread, calls indented.")),
                section("From, and to", all.length ? this.branchTable(all, show)
                    : make("p", {}, "None is in the log.")),
                bytes,
            ],
        };
    }
    branchTable(all, show) {
        const body = make("tbody"), table = make("table", { class: "branches" }, body);
        const rows = (first, end) => body.append(...all.slice(first, end).map((branch, i) => {
            const button = make("button", { type: "button", class: "link" }, branch.from);
            button.addEventListener("click", () => show(branch, first + i));
            return make("tr", {}, make("td", { class: "at" }, String(first + i)), make("td", {}, button),
                        make("td", {}, "→"), make("td", {}, branch.to));
        }));
        rows(0, BRANCHES_AT_ONCE);
        if (all.length <= BRANCHES_AT_ONCE)
            return table;
        const more = make("button", { type: "button", class: "link" }, `and ${all.length - BRANCHES_AT_ONCE} more`);
        more.addEventListener("click", () => {
            more.remove();
            rows(BRANCHES_AT_ONCE, all.length);
        });
        return make("div", {}, table, more);
    }

    /* ---- the others ---- */
    lock(l) {
        const bytes = this.slice(l.bytes, l.size);
        return {
            title: `Spin lock ${l.name}, CPU ${l.cpu}`,
            parts: [
                section("What it says", facts([
                    ["Acquired", l.timed ? `${seconds(l.acquired)} s` : ""],
                    ["Released", `${seconds(l.timed ? l.released : l.time)} s`],
                    ["Held", l.timed ? span(l.released - l.acquired) : ""], ["Thread", threads.name(l.tid)],
                    ["By", l.by], ["Mode", l.mode], ["Spun for", `${l.waited} cycles`, "waited"],
                ])),
                section("WMI_SPINLOCK (0529H)", new ByteView(bytes, fieldsOf(meta.layouts.spinlock, bytes, 0, "", {
                    lock: l.name, caller: l.by,
                })).element),
            ],
        };
    }
    event(e) {
        const bytes = this.slice(e.bytes, e.size), fields = this.headFields(bytes, e.head);
        if (e.size > e.head)
            fields.push({ name: "payload", bit: 8 * e.head, bits: 8 * (e.size - e.head),
                          number: `${e.size - e.head} bytes`, means: e.text });
        return {
            title: `Event ${e.hook < 0x10000 ? `${hex(e.hook, 4).toUpperCase()}H` : ""}, CPU ${e.cpu}`,
            parts: [
                section("What it says", facts([["Time", `${seconds(e.time)} s`], ["Text", e.text]])),
                section("Its bytes", new ByteView(bytes, fields).element),
            ],
        };
    }
    gap(g) {
        return {
            title: `${g.why === UNTOLD ? "Unknown" : "Missing"}, CPU ${g.cpu}`,
            parts: [section("What it says", facts([
                ["What", g.text], ["Why", causeOf(g)], ["From", `${seconds(g.from)} s`], ["To", `${seconds(g.to)} s`],
                ["Length", span(g.to - g.from)],
            ]))],
        };
    }
}
