/* SPDX-License-Identifier: MIT */
/* Counters bit by bit, and the registers that say what has happened to them. */
"use strict";

const LOW_BITS = 12;
const STATUS_NAMES = { 54: "PEBS threshold", 58: "LBR_FRZ", 59: "CTR_FRZ", 62: "OvfBuf" };
const DEBUGCTL_NAMES = { 0: "LBR", 6: "TR", 7: "BTS", 8: "BTINT", 9: "BTS_OFF_OS", 10: "BTS_OFF_USR",
                         11: "FREEZE_LBRS", 12: "FREEZE_PERFMON" };

/* The settings' words for a counter: "loads", 5. */
function counterSetting(number) {
    const key = number < 32 ? `pmc${number}` : `fixed${number - 32}`, words = (settings.get(key) ?? "").split(":");
    const event = number < 32 ? words.shift() : ["instructions", "cycles", "reference cycles", "slots"][number - 32];
    return { event, period: words[0], plain: words.includes("plain") };
}

function bitBoxes(value, width) {
    const high = width - LOW_BITS, top = value >> BigInt(LOW_BITS), ones = (1n << BigInt(high)) - 1n;
    const boxes = make("span", { class: "bits" });
    boxes.append(make("span", { class: `high ${top === ones ? "one" : top === 0n ? "zero" : ""}`,
                                title: `bits ${width - 1} to ${LOW_BITS}` },
                      top === ones ? `${high} × 1` : top === 0n ? `${high} × 0` : `${hex(top)}H`));
    for (let i = LOW_BITS - 1; i >= 0; i--)
        boxes.append(make("span", { class: bit(value, i) ? "one" : "zero", title: `bit ${i}` },
                          bit(value, i) ? "1" : "0"));
    return boxes;
}

function counterRow(number) {
    const value = machine.big("value", number), width = machine.number("width");
    const { event, period, plain } = counterSetting(number);
    const left = (1n << BigInt(width)) - value, armed = bit(machine.big("armed"), number);
    const overflowed = bit(machine.big("global_status"), number), moved = bit(machine.big("moved"), number);
    const pdist = bit(machine.big("pdist"), number), pebs = bit(machine.big("pebs"), number);
    const kind = pebs ? pdist ? "PEBS, PDIST" : "PEBS" : plain ? "no PEBS" : "PEBS records none";
    const now = armed ? "armed" : overflowed ? "overflowed" : value === 0n ? "0" : left < 1000000n ? `−${left}`
        : String(value);
    return make("div", { class: `counter${armed ? " armed" : overflowed ? " over" : ""}${moved ? " moved" : ""}`,
                         "data-counter": number, "data-value": hex(value) },
                make("div", { class: "about" }, make("b", {}, `IA32_${counterName(number)}`),
                     make("span", {}, `${event}, period ${period}`), make("span", { class: "kind" }, kind)),
                make("div", { class: "now" }, bitBoxes(value, width), make("b", { class: "left" }, now)));
}

function chips(value, names) {
    return bitsOf(value).map((i) => make("span", { class: "chip" }, `[${i}] ${names(i)}`));
}

function register(name, value, parts, title) {
    return make("tr", { title }, make("th", { scope: "row" }, name),
                make("td", { class: "mono", "data-register": name }, `${hex(value)}H`), make("td", {}, ...parts));
}

/* Architectural PEBS has each counter's bit in a register of its own. */
function pebsRegister() {
    if (!isArchitectural())
        return register("PEBS_ENABLE", machine.big("pebs_enable"), chips(machine.big("pebs_enable"), counterBit),
                        "IA32_PEBS_ENABLE: counters whose overflow arms PEBS");
    const index = machine.big("pebs_index"), flags = index & (1n << 31n | 1n << 32n);
    return register("PEBS_INDEX", index, chips(flags, (i) => i === 31 ? "FULL" : "EN"),
                    "IA32_PEBS_INDEX: position, FULL, EN, threshold");
}

const counterBit = (i) => i < 48 ? counterName(i) : STATUS_NAMES[i] ?? "";

function showCounters() {
    const used = bitsOf(machine.big("used"));
    by("counters").replaceChildren(...used.map(counterRow));
    if (!used.length)
        by("counters").append(make("p", { class: "faint" }, "No counter is in use (e: settings)."));
    const lvtpc = machine.big("lvtpc"), debugctl = machine.big("debugctl"), masked = bit(lvtpc, 16);
    const state = machine.number("pmi_latched") ? "a PMI waits for unmasking" : machine.number("pmi_due")
        ? "PMI due" : machine.number("in_handler") ? "in the handler" : "";
    const rows = [
        register("GLOBAL_STATUS", machine.big("global_status"), chips(machine.big("global_status"), counterBit),
                 "IA32_PERF_GLOBAL_STATUS: overflowed counters, and what the PEBS buffer and PMIs did"),
        register("GLOBAL_CTRL", machine.big("global_ctrl"), chips(machine.big("global_ctrl"), counterBit),
                 "IA32_PERF_GLOBAL_CTRL: counters that are on"),
        pebsRegister(),
        register("LVTPC", lvtpc, [make("span", { class: `chip ${masked ? "masked" : "open"}` },
                                       masked ? "[16] masked" : "not masked"),
                                  state && make("span", { class: "chip due" }, state)].filter(Boolean),
                 "The local APIC's entry for the performance-monitoring interrupt"),
    ];
    if (debugctl)
        rows.push(register("DEBUGCTL", debugctl, chips(debugctl, (i) => DEBUGCTL_NAMES[i] ?? ""), "IA32_DEBUGCTL"));
    by("registers").replaceChildren(...rows);
}
