/* SPDX-License-Identifier: MIT */
/* The settings as a form, made from the machine's own tables. Each change begins the run anew. */
"use strict";

const form = {
    get catalog() { return machine.catalog; },
    get processor() { return this.catalog.processors.find((each) => each.name === settings.get("cpu")); },

    select(name, values, chosen, change, disabled = false) {
        const element = make("select", { disabled, "aria-label": name }, ...values.map((value) =>
            make("option", { value: value.value ?? value, selected: (value.value ?? value) === chosen },
                 value.text ?? value)));
        element.addEventListener("change", () => change(element.value));
        return element;
    },
    change(changes) { this.error.textContent = control.open(settings.changed(changes)); this.fill(); },

    counterKeys() {
        const { gp, fixed, pebs } = this.processor;
        const all = BigInt(`0x${pebs}`), row = (key, number) => ({ key, pebs: bit(all, number) });
        return [...Array.from({ length: gp }, (_, i) => row(`pmc${i}`, i)),
                ...Array.from({ length: fixed }, (_, i) => row(`fixed${i}`, 32 + i))];
    },
    counterRow(key) {
        const isFixed = key.startsWith("fixed"), words = settings.get(key).split(":");
        const event = isFixed ? "" : words.shift(), [period, ...flags] = words;
        const put = (parts) => this.change({ [key]: parts.filter(Boolean).join(":") });
        const rings = flags.find((flag) => ["u", "k", "uk"].includes(flag)) ?? "u";
        const kind = flags.includes("plain") ? "plain" : flags.includes("int") ? "int" : "";
        const number = make("input", { type: "number", min: 1, max: 100000, value: period,
                                       "aria-label": `${key}: period` });
        number.addEventListener("change", () => put([event, number.value, rings, kind]));
        const remove = make("button", { type: "button", title: `do without ${key}` }, "✕");
        remove.addEventListener("click", () => this.change({ [key]: key === "pmc0" ? "off" : undefined }));
        const events = this.processor.events.map((e) => this.catalog.events[e]);
        return make("div", { class: "row" }, make("b", { class: "mono" }, key),
                    isFixed ? "" : this.select(`${key}: event`, events, event,
                                               (value) => put([value, period, rings, kind])), number,
                    this.select(`${key}: rings`, [{ value: "u", text: "USR" }, { value: "k", text: "OS" },
                                                  { value: "uk", text: "USR and OS" }], rings,
                                (value) => put([event, period, value, kind])),
                    this.select(`${key}: PEBS`, [{ value: "", text: "PEBS" }, { value: "plain", text: "no PEBS" },
                                                 { value: "int", text: "PEBS and INT" }], kind,
                                (value) => put([event, period, rings, value])), remove);
    },
    counters() {
        const used = this.counterKeys().filter(({ key }) => (settings.get(key) ?? "off") !== "off");
        const free = this.counterKeys().filter(({ key }) => (settings.get(key) ?? "off") === "off");
        const choices = [{ value: "", text: "add a counter …" }, ...free.map(({ key }) => key)];
        const add = this.select("add a counter", choices, "", (key) => {
            const { pebs } = free.find((each) => each.key === key);
            this.change({ [key]: `${key.startsWith("pmc") ? "instructions:" : ""}5:u${pebs ? "" : ":plain"}` });
        });
        return make("div", {}, make("h2", {}, "Counters: event, period, rings"),
                    ...used.map(({ key }) => this.counterRow(key)), make("div", { class: "row" }, add));
    },
    groups() {
        const now = (settings.get("groups") ?? "").split(","), { arch, groups } = this.processor;
        const baseline = this.processor.baseline || arch, where = arch ? "IA32_PMC_GPn_CFG_C" : "MSR_PEBS_DATA_CFG";
        const boxes = this.catalog.groups.map((name, i) => {
            const box = make("input", { type: "checkbox", checked: now.includes(name), disabled: !baseline });
            box.addEventListener("change", () => {
                const chosen = this.catalog.groups.filter((each) => each === name ? box.checked : now.includes(each));
                this.change({ groups: chosen.join(",") || "none" });
            });
            return make("label", { title: groups >> i & 1 ? undefined : "this processor does not have it: #GP" }, box,
                        groups >> i & 1 || !baseline ? name : `${name} (#GP)`);
        });
        return make("div", {}, make("h2", {}, `Groups of a record (${where})`),
                    baseline ? make("div", { class: "boxes" }, ...boxes)
                        : make("p", { class: "faint" }, `Records of format ${this.processor.format} have no groups.`));
    },
    /* What has no meaning for the processor. */
    without(key) {
        return this.processor.arch ? ["records", "extra", "buffer"].includes(key) : key === "size";
    },
    number([key, text, low, high, normal, values]) {
        const now = settings.get(key) ?? (values.length ? values[normal] : String(normal));
        if (values.length)
            return make("label", {}, text, this.select(text, values, now, (value) => this.change({ [key]: value }),
                                                       this.without(key)));
        const input = make("input", { type: "number", min: low, max: high, value: now,
                                      disabled: this.without(key) });
        input.addEventListener("change", () => this.change({ [key]: input.value }));
        return make("label", {}, text, input);
    },
    policy([name, question, values]) {
        const key = `policy.${name}`;
        return make("label", { class: "policy" }, make("span", {}, make("b", {}, name), question),
                    this.select(name, values, settings.get(key) ?? values[0],
                                (value) => this.change({ [key]: value })));
    },
    program() {
        const area = make("textarea", { "aria-label": "Program, an instruction a line", spellcheck: "false" });
        area.value = (settings.get("program") ?? "").replaceAll(",", "\n");
        area.addEventListener("change", () => {
            const lines = area.value.toLowerCase().split(/[\n,]+/).map((line) => line.trim().replace(/\s+/, ":"));
            this.change({ program: lines.filter(Boolean).join(",") });
        });
        const ops = this.catalog.ops.filter(([name]) => name !== "sysret");
        return make("div", {}, make("h2", {}, "Program"), make("div", { class: "row" }, area,
            make("table", { class: "ops" }, ...ops.map(([name, , text]) =>
                make("tr", {}, make("td", { class: "mono" }, name), make("td", {}, text))))),
                    make("p", { class: "faint" }, "Write one instruction a line. A target is a place in the program: " +
                         "0 is the first instruction. A JMP to the first one follows the last."));
    },
    fill() {
        const processors = this.catalog.processors.map(({ name, format, arch }) =>
            ({ value: name, text: `${name}, ${arch ? "architectural" : `format ${format}`}` }));
        const shown = this.catalog.numbers.filter(([key]) => !["at", "scene", "stop"].includes(key));
        by("sheet").replaceChildren(
            make("div", {}, make("h2", {}, "Processor"),
                 this.select("processor", processors, settings.get("cpu"), (cpu) => this.change({ cpu })),
                 this.counters(), this.groups(), this.program()),
            make("div", {}, make("h2", {}, "Buffers, interrupt, handler"), ...shown.map((row) => this.number(row))),
            make("div", {}, make("h2", {}, "What no manual says: policies"),
                 ...this.catalog.policies.map((row) => this.policy(row))));
    },
    show() {
        this.error = make("span", { class: "error", role: "alert" });
        by("form").replaceChildren(make("div", { id: "sheet", class: "sheet" }),
                                   make("form", { method: "dialog", class: "bottom" }, this.error,
                                        make("button", { class: "main" }, "Close")));
        this.fill();
        by("form").showModal();
    },
};
