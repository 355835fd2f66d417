/* SPDX-License-Identifier: MIT */
/* The page: what is looked at, what is chosen, and what pointer and keys do to it. */
"use strict";

const KIND_NAMES = { switch: "context switch", record: "PEBS record", drain: "drain", lock: "spin lock",
                     event: "other event", btsdrain: "drain of branches", gap: "gap" };
const element = (id) => document.getElementById(id);

class View {
    constructor(trace, model) {
        this.trace = trace;
        this.model = model;
        this.look = new Window(model.first, model.last);
        this.painter = new Painter(element("lanes"), model, this.look);
        this.details = new Details(trace, model, (thing) => this.choose(thing));
        this.finder = new Finder(trace, model);
        this.mouse = new Pointer(this);
        this.walk = new LaneWalk(this);
        this.folds = new Folds(this);
        this.chosen = this.hover = this.only = this.pointer = undefined;
        this.frames = 0;
    }

    /* ---- drawing ---- */
    /* The row at this height of all of them. */
    rowAt(y) {
        const row = this.rows[firstWhere(this.rows.length, (i) => this.rows[i].y + this.rows[i].height > y)];
        return row && y >= row.y ? row : undefined;
    }
    resize() {
        this.unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
        this.painter.unit = this.unit;
        this.painter.font = getComputedStyle(document.body).fontFamily;
        const scroller = element("scroller"), width = scroller.clientWidth - element("labels").offsetWidth;
        this.look.width = Math.max(width, 50);
        this.height = scroller.clientHeight;
        const share = element("panel").offsetHeight / innerHeight;
        element("splitter").setAttribute("aria-valuenow", Math.round(100 * share));
        const laidOut = layOut(this.model, this.unit, (cpu) => this.folds.has(cpu));
        Object.assign(this, laidOut, { height: scroller.clientHeight });
        this.extent = this.rows.at(-1).y + this.rows.at(-1).height;
        element("fold").setAttribute("aria-pressed", String(this.folds.most));
        element("extent").style.height = `${this.extent}px`;
        const canvas = element("lanes");
        canvas.style.width = `${this.look.width}px`;
        canvas.style.height = `${this.height}px`;
        this.label();
        this.overviewDrawn = undefined;
        this.draw();
    }
    draw() {
        this.wanted ??= requestAnimationFrame(() => {
            this.wanted = undefined;
            this.frame();
        });
    }
    frame() {
        const { look, painter } = this;
        painter.draw(this.rows, element("scroller").scrollTop, this.height, {
            selected: this.chosen, lane: this.walk.lane, hover: this.hover, only: this.only, pointer: this.pointer,
        });
        this.axis();
        this.overview();
        this.frames++;
        document.documentElement.dataset.shapes = painter.shapes; /* how much work it was */
        document.documentElement.dataset.steps = work.steps;
        document.documentElement.dataset.frames = this.frames;
        document.documentElement.dataset.from = look.from;
        document.documentElement.dataset.to = look.to;
    }
    axis() {
        const axis = element("axis"), { look } = this;
        axis.replaceChildren(...look.ticks(110 * this.unit).map(({ time, places }) => {
            const x = look.x(time), label = make("span", { class: x < 30 ? "edge" : undefined },
                                                 `${seconds(time, places)} s`);
            label.style.left = `${Math.max(x, 0)}px`;
            return label;
        }));
        if (this.pointer !== undefined) {
            const places = Math.min(7, Math.max(0, Math.ceil(-Math.log10(look.perPixel / meta.hz))));
            const at = make("span", { class: "at" }, `${seconds(this.pointer, places)} s`);
            at.style.left = `${Math.min(Math.max(look.x(this.pointer), 50), look.width - 50)}px`;
            axis.append(at);
        }
    }
    overview() {
        const canvas = element("overview"), width = canvas.clientWidth, height = canvas.clientHeight;
        const { first, last, from, to } = this.look, scale = width / (last - first);
        if (this.overviewDrawn === undefined) {
            this.overviewDrawn = document.createElement("canvas");
            this.painter.overview(this.overviewDrawn, width, height);
            canvas.width = this.overviewDrawn.width;
            canvas.height = this.overviewDrawn.height;
        }
        const pen = canvas.getContext("2d"), ratio = canvas.width / width;
        pen.setTransform(1, 0, 0, 1, 0, 0);
        pen.drawImage(this.overviewDrawn, 0, 0);
        pen.setTransform(ratio, 0, 0, ratio, 0, 0);
        const left = (from - first) * scale, right = (to - first) * scale;
        pen.fillStyle = theme.dark ? "#0007" : "#fffa";
        pen.fillRect(0, 0, left, height);
        pen.fillRect(right, 0, width - right, height);
        pen.strokeStyle = theme.colours.accent;
        pen.lineWidth = 2;
        pen.strokeRect(left + 1, 1, Math.max(right - left - 2, 2), height - 2);
    }
    label() {
        const labels = [];
        for (const row of this.rows) {
            const words = { cpu: `CPU ${row.number}`, pebbles: "PEBS buffer", branches: "BTS branches",
                            locks: "spin locks", events: "events",
                            title: row.text, thread: row.thread && threads.name(row.thread.tid) }[row.kind];
            if (!words)
                continue;
            const thread = row.kind === "thread", cpu = row.kind === "cpu";
            const sub = ["pebbles", "branches", "locks", "events"].includes(row.kind);
            const label = make(thread || cpu ? "button" : "div", {
                class: sub ? "sub" : row.kind, title: words, type: thread || cpu ? "button" : undefined,
                tabindex: thread || cpu ? -1 : undefined, "aria-expanded": cpu ? String(!row.folded) : undefined,
            }, words);
            label.style.top = `${row.y}px`;
            const height = `${row.height - (row.kind === "title" ? 0 : 4 * this.unit)}px`;
            Object.assign(label.style, { height, lineHeight: height });
            if (cpu)
                label.addEventListener("click", () => this.folds.one(row.number));
            if (thread) {
                label.style.setProperty("--own-colour", threads.colour(row.thread.tid));
                label.dataset.tid = row.thread.tid;
                label.classList.toggle("only", row.thread.tid === this.only);
                label.addEventListener("click", () => this.choose1(row.thread.tid));
            }
            labels.push(label);
        }
        element("labels").replaceChildren(...labels);
    }

    /* ---- looking around ---- */
    moved() {
        this.draw();
        this.mouse.tip();
        clearTimeout(this.noting);
        this.noting = setTimeout(() => this.note(), 200);
    }
    pan(share) {
        this.look.pan(share * this.look.length);
        this.moved();
    }
    zoom(factor, time) {
        this.look.zoom(factor, time ?? (this.chosen && this.sees(this.chosen) ? this.chosen.time
            : (this.look.from + this.look.to) / 2));
        this.moved();
    }
    sees(thing) { return this.look.from <= thing.time && thing.time <= this.look.to; }
    get scrolled() { return element("scroller").scrollTop; }
    scrollBy(share) { element("scroller").scrollTop += share * this.height; }
    /* From the CPUs to the threads, or back. */
    toOthers() {
        const threads = this.rows.find((row) => row.kind === "title"), scroller = element("scroller");
        const top = Math.min(threads?.y ?? 0, this.extent - this.height);
        scroller.scrollTop = this.scrolled < top - 1 ? top : 0;
    }
    showAll() {
        this.look.showAll();
        this.moved();
    }
    focusChosen() {
        if (!this.chosen)
            return;
        const around = this.chosen.kind === "gap" || this.chosen.kind === "lock" ? this.chosen : undefined;
        const from = around?.acquired ?? around?.from ?? this.chosen.time, to = around?.to ?? this.chosen.time;
        const margin = Math.max(to - from, meta.hz / 1000);
        this.look.show(from - margin, to + margin);
        this.moved();
    }
    choose1(tid) { /* one thread alone, or all again */
        this.only = this.only === tid || !isBusy(tid ?? NOBODY) ? undefined : tid;
        this.say(this.only === undefined ? "All threads." : `${threads.name(tid)} alone.`);
        for (const label of document.querySelectorAll("#labels .thread"))
            label.classList.toggle("only", Number(label.dataset.tid) === this.only);
        this.draw();
    }

    /* ---- what is chosen ---- */
    /* `keep`: the row it is chosen in, which must stay in sight. */
    choose(thing, { reveal = true, keep } = {}) {
        this.chosen = thing;
        this.folds.openFor(thing);
        this.walk.chose(keep ?? (thing ? this.rowOf(thing) : undefined), thing);
        const shown = thing ? this.details.of(thing) : summary(this.trace, this.model, (t) => this.choose(t));
        element("panel-title").textContent = shown.title;
        element("summary").hidden = !thing;
        element("parts").replaceChildren(...shown.parts);
        element("panel").scrollTop = 0;
        element("panel").dataset.kind = thing?.kind ?? "summary";
        element("panel").dataset.index = thing?.index ?? "";
        const whose = keep?.kind === "thread" ? `${threads.name(keep.thread.tid)}. ` : "";
        this.say(thing ? `${whose}${shown.title}, ${seconds(thing.time)} s. ${this.mouse.words(thing)}` : "Summary");
        if (thing && reveal)
            this.look.reveal(thing.time);
        if (element("scroller").clientHeight !== this.height) /* the panel is as high as what it holds */
            this.resize();
        const row = keep ?? (reveal && thing ? this.rowOf(thing) : undefined);
        if (row)
            this.scrollTo(row);
        this.moved();
    }
    rowOf(thing) {
        const rows = this.rows.filter((row) => row.number === thing.cpu);
        return rows.find((row) => row.kind === rowOf(thing)) ?? rows[0];
    }
    scrollTo({ y, height }) {
        const scroller = element("scroller");
        scroller.scrollTop = Math.max(Math.min(scroller.scrollTop, y), y + height - this.height);
    }
    /* The next of a kind, from what is chosen or from the middle of the window. */
    next(kind, by, cpu) {
        const thing = besides(allOf(this.trace, this.model, kind, cpu), this.chosen,
                              this.chosen?.time ?? this.walk.middle, by);
        if (thing)
            this.choose(thing);
        else
            this.say(`There is no ${KIND_NAMES[kind]}.`);
    }
    step(by) {
        if (this.chosen)
            this.next(this.chosen.kind, by, this.chosen.cpu);
        else
            this.next(this.trace.records.length ? "record" : "switch", by);
    }
    /* For who does not see it. */
    say(words) { element("said").textContent = words; }
    sayWindow() {
        const places = Math.min(7, Math.max(0, Math.ceil(-Math.log10(this.look.length / meta.hz)) + 2));
        this.say(`From ${seconds(this.look.from, places)} to ${seconds(this.look.to, places)} s.`);
    }
    enterPanel() {
        (element("parts").querySelector("[tabindex='0'], button") ?? element("panel-title")).focus();
    }
    back() {
        if (element("keys").open)
            this.toggleHelp();
        else if (document.activeElement?.closest("#panel, #find"))
            element("scroller").focus();
        else if (this.only !== undefined)
            this.choose1(this.only);
        else
            this.choose(undefined);
    }

    /* ---- the rest of the header ---- */
    search() {
        element("words").focus();
        element("words").select();
    }
    found(words) {
        const found = this.finder.find(words, this.chosen?.time ?? -Infinity), output = element("found");
        output.textContent = found || !words.trim() ? "" : "nothing is called so";
        if (found?.time !== undefined) {
            const length = Math.min(this.look.length, meta.hz / 100);
            this.look.show(found.time - length / 2, found.time + length / 2);
            this.moved();
        } else if (found?.tid !== undefined) {
            this.only = undefined;
            this.choose1(found.tid);
            const row = this.rows.find((r) => r.kind === "thread" && r.thread.tid === found.tid);
            element("scroller").scrollTop = row.y - this.height / 2;
        } else if (found?.thing) {
            this.choose(found.thing);
        }
    }
    toggleTheme() {
        theme.toggle();
        this.themed();
    }
    themed() {
        theme.apply();
        this.resize();
    }
    toggleHelp() {
        const dialog = element("keys");
        if (dialog.open)
            dialog.close();
        else
            dialog.showModal();
    }

    listen() {
        this.mouse.listenLanes();
        this.mouse.listenOverview();
        this.mouse.listenSplitter();
        element("find").addEventListener("submit", (e) => {
            e.preventDefault();
            this.found(element("words").value);
        });
        element("words").addEventListener("keydown", (e) => e.key === "Escape" && this.back());
        element("all").addEventListener("click", () => this.showAll());
        element("fold").addEventListener("click", () => this.folds.all());
        element("theme").addEventListener("click", () => this.toggleTheme());
        element("summary").addEventListener("click", () => this.choose(undefined));
        element("help").addEventListener("click", () => this.toggleHelp());
        document.addEventListener("keydown", (e) => onKey(this, e));
        addEventListener("resize", () => this.resize());
        addEventListener("hashchange", (e) => this.fromHash(new URL(e.newURL).hash));
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.themed());
    }

    /* ---- a link to what is seen: #record=3&from=0.1&to=0.2; #summary: nothing is chosen ---- */
    note() {
        const places = 9, parts = [`from=${(this.look.from / meta.hz).toFixed(places)}`,
                                   `to=${(this.look.to / meta.hz).toFixed(places)}`];
        if (this.chosen)
            parts.push(`${this.chosen.kind}=${this.chosen.index}`);
        history.replaceState(undefined, "", `#${parts.join("&")}`);
    }
    fromHash(hash = location.hash) {
        const first = hash ? undefined : firstLook(this.trace, this.model);
        if (first) {
            this.look.show(first.from, first.to);
            this.choose(first.thing, { reveal: false });
            element("parts").querySelector("[data-name='EventingIP']")
                ?.dispatchEvent(new Event("mouseover", { bubbles: true }));
            return;
        }
        const said = new URLSearchParams(hash.slice(1)), number = (name) => Number(said.get(name) ?? NaN);
        let thing;
        for (const kind of ["switch", "record", "drain", "lock", "event", "btsdrain", "gap"])
            if (Number.isInteger(number(kind))) {
                const { count, at } = allOf(this.trace, this.model, kind);
                thing = number(kind) >= 0 && number(kind) < count ? at(number(kind)) : undefined;
            }
        if (number("from") < number("to"))
            this.look.show(number("from") * meta.hz, number("to") * meta.hz);
        this.choose(thing, { reveal: !(number("from") < number("to")) });
    }
    /* As wide as the threads' names, if there is room. */
    widenNames() {
        const longest = Math.max(...this.model.threads.map((thread) => threads.name(thread.tid).length), 0);
        document.documentElement.style.setProperty("--longest", `${2.2 + 0.53 * longest}rem`);
    }
    start() {
        const name = keyOf.get("workload.name"), when = keyOf.get("boot.time");
        document.title = `Cairn: ${name ?? "a trace"}${when ? `, ${when}` : ""}`;
        element("identity").textContent = [
            meta.only && `only ${meta.only}`, name, when, plural(meta.cpus, "CPU", "CPUs"),
            `build ${(keyOf.get("kernel.build_id") ?? "unknown").slice(0, 12)}`,
        ].filter(Boolean).join(" · ");
        const store = Number(keyOf.get("ds.format")) === meta.arch ? "PEBS" : "Debug Store";
        const emulated = [meta.emulated_ds ? `${store} emulated` : "",
                          meta.emulated_machine ? "times are an emulator's" : ""].filter(Boolean).join(", ");
        element("wrong").hidden = !meta.bad_end;
        element("wrong").textContent = meta.bad_end.split(/[:;]/)[0];
        element("wrong").title = meta.bad_end;
        element("emulated").hidden = !emulated;
        element("emulated").textContent = emulated;
        element("summary").textContent = `Summary: ${summaryLine(this.model)}`;
        element("summary").classList.toggle("lost", Boolean(meta.bad_end || meta.losses.length));
        element("keys").append(make("h2", {}, "Keys"), helpTables());
        this.listen();
        theme.apply();
        this.widenNames();
        this.resize();
        this.fromHash();
    }
}
