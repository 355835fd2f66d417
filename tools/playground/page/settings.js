/* SPDX-License-Identifier: MIT */
/* The settings as the page holds them: the machine reads and writes their text, this has its words by their keys. */
"use strict";

const settings = {
    words: new Map(),

    /* From what the machine has made of them. */
    take() {
        this.words = new Map(machine.string("text").split(";").map((item) => {
            const equals = item.indexOf("=");
            return [item.slice(0, equals), item.slice(equals + 1)];
        }));
    },
    get(key) { return this.words.get(key); },
    programLength() { return (this.get("program") ?? "").split(",").length; },
    text(words = this.words) { return [...words].map(([key, value]) => `${key}=${value}`).join(";"); },
    /* The text with some words changed (undefined: left out), from the first step on and outside of scenes. */
    changed(changes) {
        const words = new Map(this.words);
        for (const key of ["at", "scene", "stop"])
            words.delete(key);
        for (const [key, value] of Object.entries(changes))
            value === undefined ? words.delete(key) : words.set(key, value);
        return this.text(words);
    },
};

/* PEBS without the Debug Store. */
function isArchitectural() {
    return machine.catalog.processors.find(({ name }) => name === settings.get("cpu")).arch;
}

/* What the address has after '#', whatever a mail program has made of it. */
function textOfAddress() {
    const text = location.hash.slice(1);
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/* Scene 0 ("zero") or the machine ("step"), with its part of the address. From one to the other it is a new page for
 * the browser's button back. */
function showView(name, hash) {
    const { dataset } = document.documentElement, push = dataset.view && dataset.view !== name;
    dataset.view = name;
    if (hash !== location.hash)
        push ? history.pushState(null, "", hash) : history.replaceState(null, "", hash);
}

const writeAddress = () => showView("step", `#${machine.string("text")}`);
