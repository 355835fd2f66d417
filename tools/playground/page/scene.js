/* SPDX-License-Identifier: MIT */
/* Plays the guided scenes of scenes.js. */
"use strict";

const scene = {
    number: 0, part: 0, /* number 0: none */

    get now() { return scenes[this.number - 1]; },
    /* From step 0 of the last part that has settings of its own. */
    play(number, part) {
        this.number = number;
        this.part = part;
        const { set, parts } = this.now;
        let first = part;
        while (first > 0 && !parts[first].set)
            first--;
        const error = machine.open(`${parts[first].set ?? set};scene=${number};stop=${part}`);
        if (error)
            throw new Error(`scene ${number}: ${error}`);
        for (let i = first; i <= part; i++)
            for (const go of parts[i].go ?? [])
                this.go(go, number);
    },
    go(go, number) {
        if (go.startsWith("+"))
            machine.to(machine.number("step") + Number(go));
        else if (!machine.run(MARK[go]))
            throw new Error(`scene ${number}: no ${go}`);
    },
    forward() {
        if (!this.number)
            return this.play(1, 0);
        if (this.part + 1 < this.now.parts.length)
            return this.play(this.number, this.part + 1);
        return this.play(this.number % scenes.length + 1, 0);
    },
    back() {
        if (!this.number)
            return this.play(1, 0);
        if (this.part > 0)
            return this.play(this.number, this.part - 1);
        const number = this.number > 1 ? this.number - 1 : scenes.length;
        return this.play(number, scenes[number - 1].parts.length - 1);
    },
    /* As the settings that were opened say. */
    take() {
        const number = Number(settings.get("scene") ?? 0), part = Number(settings.get("stop") ?? 0);
        this.number = number <= scenes.length ? number : 0;
        this.part = this.number && part < this.now.parts.length ? part : 0;
    },
    show() {
        by("scene").hidden = !this.number;
        by("scenes").value = String(this.number);
        if (!this.number)
            return;
        const { title, parts } = this.now, { say, ask, answer } = parts[this.part];
        const shown = by("scene-answer"), at = `${this.number}.${this.part}`;
        if (shown.dataset.at !== at)
            shown.open = false;
        shown.dataset.at = at;
        shown.hidden = !answer;
        by("scene-answer-text").textContent = answer ?? "";
        by("scene-title").textContent = `${this.number}. ${title}`;
        by("scene-part").textContent = `${this.part + 1} of ${parts.length}`;
        by("scene-say").textContent = say;
        by("scene-ask").textContent = ask ?? "";
    },
};
