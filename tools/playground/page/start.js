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
    for (const button of document.querySelectorAll("[data-zero]"))
        button.addEventListener("click", () => zero.open(Number(button.dataset.zero)));
    by("zero-late").addEventListener("input", () => zero.late(Number(by("zero-late").value)));
    by("scenes").addEventListener("change", () => {
        const number = Number(by("scenes").value);
        number < 0 ? zero.open(0) : number ? control.playScene(() => scene.play(number, 0)) : control.do("scene-leave");
        by("scenes").blur();
    });
    by("timeline").addEventListener("click", (event) => {
        machine.to(timeline.at(event));
        control.show();
    });
    addEventListener("resize", () => zero.shown || timeline.show());
    addEventListener("hashchange", () => control.openAddress(false));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        control.applyTheme();
        if (!zero.shown)
            timeline.show();
    });
}

function start() {
    control.applyTheme();
    try {
        machine.load();
        zero.load();
    } catch (error) {
        document.documentElement.dataset.view = "step";
        control.say(`This browser cannot run the model, which needs WebAssembly: ${error.message}`);
        return;
    }
    by("scenes").append(make("option", { value: "0" }, "Guided scenes …"),
                        make("option", { value: "-1" }, "0. Why PEBS"),
                        ...scenes.map(({ title }, i) => make("option", { value: i + 1 }, `${i + 1}. ${title}`)));
    connect();
    control.openAddress(true);
    document.documentElement.dataset.ready = "yes";
}

start();
