/* SPDX-License-Identifier: MIT */
/* The program, its registers, and what has been counted so far. */
"use strict";

const CODE = 0x401000n, KERNEL = 0xFFFFFFFF80001000n, INSN_BYTES = 4n;

function recordedAddress(of) {
    return of.number("newest_bytes") ? of.named("field", "EventingIP")?.value : undefined;
}

function showProgram() {
    const listing = machine.listing(), at = machine.number("at"), written = settings.programLength();
    const recorded = recordedAddress(machine), inHandler = machine.number("in_handler") > 0;
    by("program").replaceChildren(...listing.map((text, i) => {
        const address = i <= written ? CODE + INSN_BYTES * BigInt(i) : KERNEL + INSN_BYTES * BigInt(i - written - 1);
        const own = i < written, dot = recorded === address;
        return make("tr", { class: `${i === at && !inHandler ? "next" : ""}${own ? "" : " given"}`, "data-insn": i },
                    make("td", { class: "pointer" }, i === at ? inHandler ? "▷" : "▶" : ""),
                    make("td", { class: "at mono" }, i > written ? `…${hex(address & 0xFFFFn, 4)}` : hex(address)),
                    make("td", { class: "mono" }, text),
                    make("td", { class: "pebble", title: dot ? "the newest record is of this instruction" : undefined },
                         dot ? "●" : ""));
    }));
    by("program").querySelector(".next")?.scrollIntoView({ block: "nearest" });
    const names = ["rip", "rax", "rbx", "rcx", "rsi", "rdi", "rsp", "rflags"];
    by("gpr").replaceChildren(...names.map((name) =>
        make("div", {}, make("span", {}, name.toUpperCase()), make("b", { class: "mono" }, hex(machine.big(name))))));
    by("cpl").textContent = `CPL ${machine.number("cpl")}${inHandler ? ", in the PMI's handler" : ""}`;
}

function showTotals() {
    const totals = [["records", "record", "records"], ["dropped", "dropped"], ["lost", "lost"],
                    ["swallowed", "swallowed"], ["pmis", "PMI", "PMIs"], ["pmis_lost", "PMI lost", "PMIs lost"],
                    ["drains", "drain", "drains"], ["drained", "drained record", "drained records"],
                    ["bts_records", "branch record", "branch records"],
                    ["bts_dropped", "dropped branch", "dropped branches"]]; /* of one, of several */
    const always = ["records", "dropped", "pmis", "drains"];
    by("totals").replaceChildren(...totals.filter(([name]) => always.includes(name) || machine.number(name))
        .map(([name, one, several]) => {
            const count = machine.number(name);
            return make("div", { "data-total": name }, make("b", {}, String(count)),
                        make("span", {}, count === 1 ? one : several ?? one));
        }));
}
