/* SPDX-License-Identifier: MIT */
/* The panel while nothing is chosen: what log this is, how much is in it, and where the records were. */
"use strict";

const HOT = 12; /* functions that are listed */

function identity() {
    const key = (name) => keyOf.get(name) ?? "";
    const arch = Number(key("ds.format")) === meta.arch;
    const kernel = key("kernel.version"), build = key("kernel.build_id");
    return [
        ["Only", meta.only],
        ["Workload", key("workload.name") || key("option.workload")],
        ["Booted", key("boot.time")],
        ["Kernel", `${kernel}${build ? `, build ID ${build.slice(0, 16)}` : ""}`],
        ["Machine", [plural(meta.cpus, "CPU", "CPUs"), key("machine.hypervisor"),
                     meta.emulated_machine ? "emulated" : ""].filter(Boolean).join(", ")],
        [arch ? "PEBS" : "Debug Store", [key("ds.backend"), arch ? "architectural" : "",
                                         meta.emulated_ds ? "emulated: a model, not a processor" : "",
                                         key("ds.preset")].filter(Boolean).join(", "), "ds"],
        ["Events", key("ds.event.0")],
        ["Session", `${meta.session}, ${meta.switches_from ? `switches of ${meta.switches_from}` : "no switches"}`],
        ["Began", meta.began],
    ];
}

const plural = (n, one, many) => `${n} ${n === 1 ? one : many}`;

function lossWords(model) {
    const n = meta.totals, gaps = model.shown.reduce((sum, cpu) => sum + cpu.missed.length, 0);
    const words = [n.lost ? plural(n.lost, "gap", "gaps") : "",
                   gaps ? `PEBS records at ${plural(gaps, "place", "places")}` : "",
                   n.missing_frames ? `${plural(n.missing_frames, "frame", "frames")} of the log` : ""];
    return words.filter(Boolean).join(", ") || "nothing";
}

/* While another thing is chosen: what the button says that leads here. */
function summaryLine(model) {
    const n = meta.totals, branches = n.branches ? plural(n.branches, "branch", "branches") : "";
    const records = n.samples || !branches ? plural(n.samples, "PEBS record", "PEBS records") : "";
    const missing = lossWords(model), some = meta.losses.length ? "some records lost" : "nothing missing";
    return [plural(n.switches, "switch", "switches"), records, branches,
            missing === "nothing" ? some : `missing: ${missing}`].filter(Boolean).join(" · ");
}

/* Shares of each CPU's time, as `cairn stat` has them. */
function cpuTable(model) {
    const titles = ["CPU", "busy", "idle", "unknown", "switches", "records"], body = make("tbody");
    for (const cpu of model.shown) {
        const { busy, idle, unknown } = meta.whose[cpu.number], all = busy + idle + unknown;
        const shares = [busy, idle, all ? unknown : 1].map((part) => `${(100 * part / (all || 1)).toFixed(2)} %`);
        const switches = cpu.track.refs.reduce((sum, ref) => sum + (ref !== NOBODY), 0);
        body.append(make("tr", {}, ...[cpu.number, ...shares, switches, cpu.records.length]
            .map((value) => make("td", {}, String(value)))));
    }
    return make("table", { class: "cpus" },
                make("thead", {}, make("tr", {}, ...titles.map((title) => make("th", {}, title)))), body);
}

function summary(trace, model, choose) {
    const n = meta.totals, counted = new Map();
    for (const record of trace.records) {
        const name = record.name || "unknown";
        if (!counted.has(name))
            counted.set(name, { name, count: 0, first: record });
        counted.get(name).count++;
    }
    const hot = [...counted.values()].sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1)).slice(0, HOT);
    const list = make("ol", { class: "hot" });
    for (const { name, count, first } of hot) {
        const button = make("button", { type: "button", class: "link" }, name);
        button.addEventListener("click", () => choose(first));
        const bar = make("span", { class: "bar" });
        bar.style.width = `${100 * count / hot[0].count}%`;
        list.append(make("li", {}, make("span", { class: "count" }, String(count)), button, bar));
    }
    const branches = n.bts_drains ? `${n.branches} in ${plural(n.bts_drains, "drain", "drains")}` : "";
    const parts = [
        section("In this log", facts([
            ["Switches", String(n.switches)], ["PEBS records", String(n.samples), "samples"],
            ["Drains", String(n.drains)], ["Branch records", branches, "branches"],
            ["Spin locks", n.locks ? String(n.locks) : ""],
            ["Other events", n.events ? String(n.events) : "", "events"], ["Missing", lossWords(model), "lost"],
            ["Length", span(meta.last - meta.first)],
        ]), cpuTable(model)),
        section("This log", facts(identity())),
    ];
    const wrong = [meta.bad_end, ...meta.losses].filter(Boolean);
    if (wrong.length) {
        parts.unshift(section(meta.bad_end ? "What went wrong" : "What was lost",
                              make("ul", {}, ...wrong.map((text) => make("li", {}, text)))));
        parts[0].className = "wrong";
    }
    if (hot.length)
        parts.push(section("Functions with most records", list));
    return { title: "Summary", parts };
}
