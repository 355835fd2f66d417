/* SPDX-License-Identifier: MIT */
/* What the keys do. The overlay that `?` shows is made from this. */
"use strict";

const KEYS = [
    { keys: ["ArrowLeft", "a"], words: "← or a", what: "earlier", does: (view) => view.pan(-0.15) },
    { keys: ["ArrowRight", "d"], words: "→ or d", what: "later", does: (view) => view.pan(0.15) },
    { keys: ["ArrowUp", "w", "+", "="], words: "↑, w or +", what: "closer", does: (view) => view.zoom(0.6) },
    { keys: ["ArrowDown", "s", "-"], words: "↓, s or −", what: "farther", does: (view) => view.zoom(1 / 0.6) },
    { keys: ["PageUp"], words: "Page Up", what: "lanes above", does: (view) => view.scrollBy(-0.8) },
    { keys: ["PageDown"], words: "Page Down", what: "lanes below", does: (view) => view.scrollBy(0.8) },
    { keys: ["Home", "0"], words: "Home or 0", what: "all of the trace", does: (view) => view.showAll() },
    { keys: ["f"], words: "f", what: "to what is chosen", does: (view) => view.focusChosen() },
    { keys: ["n"], words: "n", what: "the next of its kind on its CPU", does: (view) => view.step(1) },
    { keys: ["p"], words: "p", what: "the one before", does: (view) => view.step(-1) },
    { keys: ["c"], words: "c, C", what: "next, last context switch", does: (view) => view.next("switch", 1) },
    { keys: ["C"], does: (view) => view.next("switch", -1) },
    { keys: ["r"], words: "r, R", what: "next, last PEBS record", does: (view) => view.next("record", 1) },
    { keys: ["R"], does: (view) => view.next("record", -1) },
    { keys: ["b"], words: "b, B", what: "next, last drain of a DS buffer", does: (view) => view.next("drain", 1) },
    { keys: ["B"], does: (view) => view.next("drain", -1) },
    { keys: ["x"], words: "x, X", what: "next, last drain of branches", does: (view) => view.next("btsdrain", 1) },
    { keys: ["X"], does: (view) => view.next("btsdrain", -1) },
    { keys: ["k"], words: "k, K", what: "next, last spin lock", does: (view) => view.next("lock", 1) },
    { keys: ["K"], does: (view) => view.next("lock", -1) },
    { keys: ["e"], words: "e, E", what: "next, last other event", does: (view) => view.next("event", 1) },
    { keys: ["E"], does: (view) => view.next("event", -1) },
    { keys: ["g"], words: "g, G", what: "next, last gap: what is missing", does: (view) => view.next("gap", 1) },
    { keys: ["G"], does: (view) => view.next("gap", -1) },
    { keys: ["Enter"], words: "Enter", what: "into the panel", does: (view) => view.enterPanel() },
    { keys: ["Escape"], words: "Esc", what: "back; nothing chosen", does: (view) => view.back() },
    { keys: ["/"], words: "/", what: "search: a time, a thread, a function", does: (view) => view.search() },
    { keys: ["t"], words: "t", what: "light or dark", does: (view) => view.toggleTheme() },
    { keys: ["?"], words: "?", what: "this list", does: (view) => view.toggleHelp() },
];
const MOUSE = [
    ["wheel", "closer, farther, around the pointer"], ["drag, Shift + wheel", "earlier, later"],
    ["click", "choose: its bytes"], ["double click", "closer"], ["on the names: click", "that thread alone"],
];

function helpTable() {
    const body = make("tbody");
    for (const [words, what] of [...KEYS.filter((k) => k.words).map((k) => [k.words, k.what]), ...MOUSE])
        body.append(make("tr", {}, make("th", { scope: "row" }, words), make("td", {}, what)));
    return make("table", {}, body);
}

function onKey(view, e) {
    if (e.ctrlKey || e.altKey || e.metaKey || e.target.closest("input, [data-own-keys]"))
        return;
    if (e.key === "Enter" && e.target.closest("button"))
        return;
    const found = KEYS.find((k) => k.keys.includes(e.key));
    if (!found)
        return;
    e.preventDefault();
    found.does(view);
}
