/* SPDX-License-Identifier: MIT */
/* What buttons and keys do, and showing what came of it. */
"use strict";

const control = {
    theme: "", /* "light", "dark"; "": as the system likes it */

    get dark() {
        return this.theme ? this.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    },
    applyTheme() { document.documentElement.dataset.theme = this.dark ? "dark" : "light"; },
    say(text) {
        by("wrong").textContent = text;
        by("wrong").hidden = !text;
    },
    show() {
        writeAddress();
        settings.take();
        scene.take();
        const step = machine.number("step"), last = machine.number("last_step");
        const cpu = machine.catalog.processors.find((each) => each.name === settings.get("cpu"));
        const pebs = cpu.arch ? "architectural PEBS" : `PEBS format ${cpu.format}`;
        by("identity").textContent = `${cpu.name}: ${pebs}, ${cpu.gp} + ${cpu.fixed} counters`;
        by("step").textContent = `step ${step}`;
        document.querySelector("[data-do=step]").disabled = step === last;
        by("why").classList.toggle("set-up", step === 0);
        by("why").replaceChildren(...machine.sentences().map((text) => make("li", {}, text)));
        showProgram();
        showTotals();
        showCounters();
        showMemory();
        scene.show();
        const room = by("why-section");
        by("why").classList.remove("many");
        by("why").classList.toggle("many", room.scrollHeight > room.clientHeight);
        timeline.show();
    },
    /* "": it is shown; else what is wrong with the settings. */
    open(text) {
        const error = machine.open(text);
        if (!error) {
            this.say("");
            this.show();
        }
        return error;
    },
    /* Without settings the address is scene 0's. Where they are wrong, it shows those before, or the usual ones. */
    openAddress(first) {
        const text = textOfAddress(), part = /^(?:why=([1-3]))?$/.exec(text);
        if (part)
            return zero.open(Number(part[1] ?? 1) - 1);
        const error = this.open(text);
        if (error && first)
            this.open("");
        if (error)
            this.say(`The address has settings that are wrong. ${error}`);
    },
    run(name) {
        this.say("");
        const what = { overflow: "overflow", record: "record", pmi: "PMI", drain: "drain" }[name];
        if (!machine.run(MARK[name]))
            this.say(`There is no ${what} up to step ${machine.number("last_step")}, where a run ends.`);
        this.show();
    },
    playScene(play) {
        this.say("");
        play();
        this.show();
    },
    actions: {
        first: () => machine.to(0),
        back: () => machine.to(Math.max(0, machine.number("step") - 1)),
        step: () => machine.to(machine.number("step") + 1),
    },
    do(name) {
        if (name === "theme")
            this.toggleTheme();
        else if (name === "help")
            this.help();
        else if (zero.actions[name])
            zero.actions[name]();
        else if (this.actions[name]) {
            this.say("");
            this.actions[name]();
            this.show();
        } else if (name === "scene-forward") {
            this.playScene(() => scene.forward());
        } else if (name === "scene-back" && scene.number === 1 && !scene.part) {
            zero.open(2);
        } else if (name === "scene-back") {
            this.playScene(() => scene.back());
        } else if (name === "scene-leave" && scene.number) {
            const step = machine.number("step");
            this.open(`${settings.changed({})};at=${step}`);
        }
    },
    async copy() {
        writeAddress();
        try {
            await navigator.clipboard.writeText(location.href);
            this.say("The link is copied. It opens this page with these settings, at this step.");
        } catch {
            this.say("This browser does not let the page copy: copy the address of the page. It has everything in it.");
        }
    },
    toggleTheme() {
        this.theme = this.dark ? "light" : "dark";
        this.applyTheme();
        if (!zero.shown)
            timeline.show();
    },
    help() {
        const head = (text) => make("tr", {}, make("th", { colspan: 2, scope: "colgroup" }, text));
        const row = ([, keys, text]) => make("tr", {}, make("td", {}, make("kbd", {}, keys)), make("td", {}, text));
        by("all-keys").replaceChildren(head("Scene 0"), ...zero.keys.slice(0, -2).map(row), head("The machine"),
                                       ...this.keys.map(row), row([0, "0 … 9", "that scene"]));
        by("about").showModal();
    },

    keys: [
        [["s", " ", "ArrowRight"], "s, space, →", "one step", (c) => c.do("step")],
        [["ArrowLeft"], "←", "one step back", (c) => c.do("back")],
        [["Home"], "Home", "to the beginning", (c) => c.do("first")],
        [["o"], "o", "run to the next overflow", (c) => c.run("overflow")],
        [["r"], "r", "run to the next record", (c) => c.run("record")],
        [["p"], "p", "run to the next PMI", (c) => c.run("pmi")],
        [["d"], "d", "run to the next drain", (c) => c.run("drain")],
        [["n"], "n", "next part of a scene, or the first scene", (c) => c.do("scene-forward")],
        [["N"], "N", "the part before", (c) => c.do("scene-back")],
        [["Escape"], "Esc", "leave the scene, keep its settings", (c) => c.do("scene-leave")],
        [["a"], "a", "the answer to a scene's question", () => by("scene-answer").toggleAttribute("open")],
        [["e"], "e", "settings", () => form.show()],
        [["c"], "c", "copy a link", (c) => c.copy()],
        [["t"], "t", "light or dark", (c) => c.toggleTheme()],
        [["?"], "?", "this help", (c) => c.help()],
    ],
    key(event) {
        const { target, key } = event;
        const inText = target.matches("input:not([type=range]), textarea, select")
            || document.querySelector("dialog[open]");
        if (inText || event.ctrlKey || event.metaKey || event.altKey)
            return;
        if (key === " " && target.matches("button, summary, a") || target.type === "range" && /^Arrow|Home/.test(key))
            return; /* it is the element's */
        const row = (zero.shown ? zero.keys : this.keys).find(([names]) => names.includes(key));
        if (row)
            row[3](this);
        else if (key === "0")
            zero.open(0);
        else if (/^[1-9]$/.test(key))
            this.playScene(() => scene.play(Number(key), 0));
        else
            return;
        event.preventDefault();
    },
};
