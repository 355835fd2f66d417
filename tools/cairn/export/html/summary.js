/* SPDX-License-Identifier: MIT */
/* The panel while nothing is chosen: what log this is, how much is in it, and where the records were. */
"use strict";

const HOT = 12; /* functions that are listed */

function identity() {
    const key = (name) => keyOf.get(name) ?? "";
    const kernel = key("kernel.version"), build = key("kernel.build_id");
    return [
        ["Only", meta.only],
        ["Workload", key("workload.name") || key("option.workload")],
        ["Booted", key("boot.time")],
        ["Kernel", `${kernel}${build ? `, build ID ${build.slice(0, 16)}` : ""}`],
        ["Machine", [`${meta.cpus} CPUs`, key("machine.hypervisor"), meta.emulated_machine ? "emulated" : ""]
            .filter(Boolean).join(", ")],
        ["Debug Store", [key("ds.backend"), meta.emulated_ds ? "emulated: a model, not a processor" : "",
                         key("ds.preset")].filter(Boolean).join(", "), "ds"],
        ["Events", key("ds.event.0")],
        ["Session", `${meta.session}, switches of ${meta.switches_from}`],
    ];
}

function lossWords() {
    const n = meta.totals;
    const frames = n.missing_frames ? `, ${n.missing_frames} frames of the log missing` : "";
    return n.lost || frames ? `${n.lost} ${n.lost === 1 ? "gap" : "gaps"}${frames}` : "nothing";
}

function summary(trace, model, choose) {
    const n = meta.totals, counted = new Map(), length = model.last - model.first;
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
    const cpus = make("table", { class: "cpus" }, make("thead", {}, make("tr", {},
        ...["CPU", "busy", "switches", "records"].map((t) => make("th", {}, t)))));
    const body = make("tbody");
    model.shown.forEach((cpu) => {
        const busy = length > 0 ? cpu.track.upTo(model.last, isBusy) / length : 0;
        const switches = cpu.track.refs.reduce((sum, ref) => sum + (ref !== NOBODY), 0);
        body.append(make("tr", {}, ...[cpu.number, `${(100 * busy).toFixed(1)} %`, switches, cpu.records.length]
            .map((v) => make("td", {}, String(v)))));
    });
    cpus.append(body);
    const parts = [
        section("In this log", facts([
            ["Switches", String(n.switches)], ["PEBS records", String(n.samples), "samples"],
            ["Drains", String(n.drains)], ["Spin locks", n.locks ? String(n.locks) : ""],
            ["Other events", n.events ? String(n.events) : "", "events"], ["Missing", lossWords(), "lost"],
            ["As long as", span(length)],
        ]), cpus),
        section("This log", facts(identity())),
    ];
    if (hot.length)
        parts.push(section("Functions with most records", list));
    return { title: "Summary", parts };
}
