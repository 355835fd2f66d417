/* SPDX-License-Identifier: MIT */
/* The page begins here. */
"use strict";

function connect() {
    document.addEventListener("keydown", (event) => control.key(event));
    for (const button of document.querySelectorAll("[data-do]"))
        button.addEventListener("click", () => control.do(button.dataset.do));
    for (const button of document.querySelectorAll("[data-run]"))
        button.addEventListener("click", () => control.run(button.dataset.run));
    by("edit").addEventListener("click", () => form.show());
    by("link").addEventListener("click", () => control.copy());
    by("theme").addEventListener("click", () => control.toggleTheme());
    by("help").addEventListener("click", () => by("about").showModal());
    by("scenes").addEventListener("change", () => {
        const number = Number(by("scenes").value);
        number ? control.playScene(() => scene.play(number, 0)) : control.do("scene-leave");
        by("scenes").blur();
    });
    by("timeline").addEventListener("click", (event) => {
        machine.to(timeline.at(event));
        control.show();
    });
    addEventListener("resize", () => timeline.show());
    addEventListener("hashchange", () => control.openAddress(false));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        control.applyTheme();
        timeline.show();
    });
}

function start() {
    control.applyTheme();
    try {
        machine.load();
    } catch (error) {
        control.say(`This browser cannot run the model, which needs WebAssembly: ${error.message}`);
        return;
    }
    by("scenes").append(make("option", { value: "0" }, "Guided scenes …"),
                        ...scenes.map(({ title }, i) => make("option", { value: i + 1 }, `${i + 1}. ${title}`)));
    by("all-keys").append(...control.keys.map(([, keys, text]) =>
        make("tr", {}, make("td", {}, make("kbd", {}, keys)), make("td", {}, text))),
                          make("tr", {}, make("td", {}, make("kbd", {}, "1 … 9")), make("td", {}, "that scene")));
    connect();
    control.openAddress(true);
    document.documentElement.dataset.ready = "yes";
}

start();
