/* SPDX-License-Identifier: MIT */
/* What the keys do. The overlay that `?` shows is made from this. */
"use strict";

const LOOK = "Looking around", CHOOSE = "Choosing things", REST = "All else";
const KEYS = [
    { of: LOOK, keys: ["ArrowLeft", "a"], words: "← or a", what: "earlier", does: (view) => view.pan(-0.15) },
    { of: LOOK, keys: ["ArrowRight", "d"], words: "→ or d", what: "later", does: (view) => view.pan(0.15) },
    { of: LOOK, keys: ["ArrowUp", "w", "+", "="], words: "↑, w or +", what: "closer",
      does: (view) => view.zoom(0.6) },
    { of: LOOK, keys: ["ArrowDown", "s", "-"], words: "↓, s or −", what: "farther",
      does: (view) => view.zoom(1 / 0.6) },
    { of: LOOK, keys: ["PageUp"], words: "Page Up", what: "lanes above", does: (view) => view.scrollBy(-0.8) },
    { of: LOOK, keys: ["PageDown"], words: "Page Down", what: "lanes below", does: (view) => view.scrollBy(0.8) },
    { of: LOOK, keys: ["m"], words: "m", what: "to the threads, to the CPUs", does: (view) => view.toOthers() },
    { of: LOOK, keys: ["l"], words: "l", what: "each CPU in one line, or in all of its",
      does: (view) => view.folds.all() },
    { of: LOOK, keys: ["u"], words: "u", what: "so the CPU of what is chosen",
      does: (view) => view.folds.one(view.chosen?.cpu) },
    { of: LOOK, keys: ["Home", "0"], words: "Home or 0", what: "all of the trace", does: (view) => view.showAll() },
    { of: LOOK, keys: ["f"], words: "f", what: "zoom to the selection", does: (view) => view.focusChosen() },
    { of: LOOK, keys: ["o"], words: "o", what: "only its thread; all threads",
      does: (view) => view.choose1(view.only ?? view.walk.thread) },
    { of: CHOOSE, keys: ["Shift+ArrowRight"], words: "Shift + →", what: "the next in its lane",
      does: (view) => view.walk.along(1) },
    { of: CHOOSE, keys: ["Shift+ArrowLeft"], words: "Shift + ←", what: "the previous one",
      does: (view) => view.walk.along(-1) },
    { of: CHOOSE, keys: ["Shift+ArrowDown"], words: "Shift + ↓", what: "in the lane below",
      does: (view) => view.walk.across(1) },
    { of: CHOOSE, keys: ["Shift+ArrowUp"], words: "Shift + ↑", what: "in the lane above",
      does: (view) => view.walk.across(-1) },
    { of: CHOOSE, keys: ["n"], words: "n, p", what: "next, previous of its kind on its CPU",
      does: (view) => view.step(1) },
    { of: CHOOSE, keys: ["p"], does: (view) => view.step(-1) },
    ...[["c", "switch", "context switch"], ["r", "record", "PEBS record"], ["b", "drain", "drain of a DS buffer"],
        ["x", "btsdrain", "drain of branches"], ["k", "lock", "spin lock"], ["e", "event", "other event"],
        ["g", "gap", "gap: what is missing"]].flatMap(([key, kind, name]) => {
        const last = key.toUpperCase();
        return [{ of: CHOOSE, keys: [key], words: `${key}, ${last}`, what: `next, previous ${name}`,
                  does: (view) => view.next(kind, 1) },
                { of: CHOOSE, keys: [last], does: (view) => view.next(kind, -1) }];
    }),
    { of: REST, keys: ["Enter"], words: "Enter", what: "into the panel: move there with Tab and ↑ ↓",
      does: (view) => view.enterPanel() },
    { of: REST, keys: ["Escape"], words: "Esc", what: "back; nothing chosen", does: (view) => view.back() },
    { of: REST, keys: ["/"], words: "/", what: "search: a time, a thread, a function", does: (view) => view.search() },
    { of: REST, keys: ["t"], words: "t", what: "light or dark", does: (view) => view.toggleTheme() },
    { of: REST, keys: ["?"], words: "?", what: "this list", does: (view) => view.toggleHelp() },
];
const MOUSE = [
    ["wheel", "zoom in, zoom out, around the pointer"], ["drag, Shift + wheel", "earlier, later"],
    ["click", "choose: its bytes"], ["double click", "zoom in"], ["on a thread's name", "only that thread"],
    ["on a CPU's name", "its threads in one line, or in a line each"],
];

function helpTables() {
    const table = (title, rows) => make("table", {}, make("caption", {}, title), make("tbody", {}, ...rows.map(
        ([words, what]) => make("tr", {}, make("th", { scope: "row" }, words), make("td", {}, what)))));
    const keys = (group) => KEYS.filter((k) => k.of === group && k.words).map((k) => [k.words, k.what]);
    return make("div", { class: "tables" }, ...[LOOK, CHOOSE, REST].map((group) => table(group, keys(group))),
                table("With the mouse", MOUSE));
}

function onKey(view, e) {
    if (e.ctrlKey || e.altKey || e.metaKey || e.target.closest("input"))
        return;
    if (element("keys").open && !["Escape", "?"].includes(e.key)) /* nothing happens behind the list */
        return;
    if (e.key === "Enter" && e.target.closest("button"))
        return;
    const key = e.shiftKey && e.key.startsWith("Arrow") ? `Shift+${e.key}` : e.key;
    const found = KEYS.find((k) => k.keys.includes(key));
    if (!found)
        return;
    e.preventDefault();
    const { from, to } = view.look, { chosen } = view;
    found.does(view);
    if (view.chosen === chosen && (view.look.from !== from || view.look.to !== to))
        view.sayWindow();
}
