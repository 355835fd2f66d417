/* SPDX-License-Identifier: MIT */
/* Scene 0 after the picture: one record unfolds into its fields, and the buffer fills to its threshold. */
"use strict";

const FIELD_TELLS = {
    "head": "how long the record is, and what is in it", "EventingIP": "which instruction it was",
    "counters": "which counter asked for the record", "TSC": "when it was",
    "data address": "the address that it loaded from",
    "data source": "which cache had it", "latency": "how long it took", "TX": "what a transaction did",
};

const zeroRecord = {
    show() {
        const { machine } = zero.pebs, bytes = machine.bytes("newest");
        const row = ({ name, at, value, means }, i) => make("tr", { class: name === "EventingIP" ? "named" : "",
                                                                    style: `--i: ${i}` },
            make("td", { class: "mono bytes" }, [...bytes.subarray(Number(at), Number(at) + 8)]
                .map((byte) => hex(byte, 2)).join(" ")),
            make("th", { scope: "row" }, name), make("td", { class: "mono value" }, `${hex(value)}H`),
            make("td", { class: "means" }, make("b", {}, means), make("span", {}, FIELD_TELLS[name])));
        by("zero-bytes").replaceChildren(make("table", {}, ...machine.elements("field").map(row)));
        const ip = machine.named("field", "EventingIP");
        zero.say(`The lowest byte comes first: EventingIP reads ${hex(ip.value)}H, the address of ${ip.means}.`);
    },
};

const zeroBuffer = {
    make() {
        this.cells = Array.from({ length: ZERO_RECORDS }, () => make("li"));
        this.threshold = make("li", { class: "threshold" }, make("b", {}, "threshold"),
                              make("span", {}, "behind it: room for records while the interrupt is on its way"));
        this.counts = { interrupt: make("b"), pebs: make("b") };
        const count = (name) => make("div", { class: `side ${name}` }, make("h2", {}, sideTexts[name][0]),
                                     make("p", {}, this.counts[name], make("span")));
        by("zero-buffer").replaceChildren(
            make("section", { class: "side pebs", id: "zero-cells" }, make("h2", {}, "The PEBS buffer, in memory"),
                 this.about = make("p", { class: "faint" }),
                 make("ol", {}, ...this.cells.slice(0, ZERO_SAMPLES), this.threshold,
                      ...this.cells.slice(ZERO_SAMPLES))),
            make("div", { id: "zero-counts" }, count("interrupt"), count("pebs")));
    },
    show() {
        const { interrupt, pebs } = zero, { stored } = pebs, { counts } = this;
        this.cells.forEach((cell, i) => {
            const record = stored[i];
            cell.classList.toggle("full", record !== undefined);
            cell.classList.toggle("newest", i === stored.length - 1);
            cell.replaceChildren(...record ? [make("b", { class: "mono" }, `${hex(record.ip)}H`),
                                              make("span", {}, `step ${record.tsc}`)] : []);
        });
        const bytes = pebs.machine.number("record_bytes");
        this.about.textContent = `${times(stored.length, "record")} of ${bytes} bytes, each names the load instruction`;
        this.threshold.classList.toggle("reached", pebs.interrupts > 0);
        for (const [name, run] of Object.entries({ interrupt, pebs })) {
            counts[name].textContent = run.interrupts;
            counts[name].nextSibling.textContent =
                `${run.interrupts === 1 ? "interrupt" : "interrupts"} for ${times(run.samples.length, "sample")}`;
        }
        zero.say(pebs.interrupts
            ? "The threshold is reached, and only now comes an interrupt, to empty the buffer. It is late as all " +
              "are, but the records already name each load instruction."
            : "The buffer fills, and the program runs on without an interrupt.");
    },
};
