/* SPDX-License-Identifier: MIT */
/* Scene 0 as one picture: two loops with a bar of samples beside each instruction. zero_parts.js has what follows. */
"use strict";

const DOES = { MOV: "sets RBX", LODSQ: "loads", ADD: "adds 1", DEC: "subtracts 1", STOSQ: "stores",
               NOP: "does nothing", JMP: "jumps back" };
const sideTexts = {
    interrupt: ["A profiler that uses interrupts", "where the program was by the time the interrupt came"],
    pebs: ["PEBS", "which instruction the processor recorded"],
};

const mnemonic = (run, place) => run.machine.listing()[place].split(" ")[0];
const percent = (part, all) => `${Math.round(100 * part / all)} %`;
const times = (count, one) => `${count} ${count === 1 ? one : `${one}s`}`;

/* One side of the picture: its elements are made once, and follow the run. */
class Side {
    constructor(name, run) {
        this.run = run;
        const [title, legend] = sideTexts[name];
        this.rows = run.machine.listing().map((_, place) => this.row(mnemonic(run, place), DOES[mnemonic(run, place)]));
        this.handler = this.row("", "interrupt handler");
        this.handler.element.classList.add("handler");
        this.element = make("section", { class: `side ${name}` }, make("h2", {}, title),
                            make("p", { class: "faint" }, legend),
                            make("ol", {}, ...this.rows.map(({ element }) => element), this.handler.element));
    }
    row(name, does) {
        const pointer = make("span", { class: "pointer", "aria-hidden": "true" }), bar = make("i");
        const count = make("b", { class: "count" });
        return { pointer, bar, count, element: make("li", {}, pointer, name && make("span", { class: "mono" }, name),
                                                    make("span", { class: "does" }, does),
                                                    make("span", { class: "bar" }, bar), count) };
    }
    show(guilty) {
        const { run } = this;
        this.rows.forEach(({ element, pointer, bar, count }, place) => {
            const samples = run.samplesOf(place);
            pointer.textContent = place === run.at && !run.inHandler ? "▶" : "";
            bar.style.width = `${100 * samples / ZERO_SAMPLES}%`;
            count.textContent = samples || "";
            element.classList.toggle("guilty", place === guilty);
        });
        this.handler.pointer.textContent = run.inHandler ? "▶" : "";
        this.handler.count.textContent = times(run.interrupts, "interrupt");
    }
}

const zeroPicture = {
    guilty: undefined, /* what the viewer was told; undefined: not yet */

    make() {
        this.sides = [new Side("interrupt", zero.interrupt), new Side("pebs", zero.pebs)];
        by("zero-sides").replaceChildren(...this.sides.map(({ element }) => element));
    },
    show() {
        for (const side of this.sides)
            side.show(this.guilty);
        this.say();
    },
    say() {
        const { interrupt, pebs } = zero;
        if (!interrupt.samples.length || !pebs.samples.length)
            return zero.say("Both sides count the loads of the loop. The first samples are on their way.");
        const wrong = mnemonic(interrupt, interrupt.blamed), right = mnemonic(pebs, pebs.blamed);
        if (wrong === right)
            return zero.say(`Both name ${right}, but the interrupt does so by accident: it comes a whole lap late.`);
        if (zero.lateness === 0 && this.guilty !== undefined)
            return zero.say(`Even an interrupt that is not late finds ${wrong}: the load is over when it comes.`);
        return zero.say(this.guilty === undefined
            ? `Interrupts say ${wrong}. PEBS says ${right}. Which of the two makes the counter count?`
            : `Interrupts blame ${wrong}, which ${DOES[wrong]}. PEBS names ${right}, which ${DOES[right]}.`);
    },
    /* "Whose fault is it?": the viewer chooses, and the model's counter tells. */
    ask() {
        zero.playing = false;
        const choices = this.sides[0].rows.map((_, place) => {
            const name = mnemonic(zero.pebs, place), choice = make("button", { type: "button" }, name);
            choice.addEventListener("click", () => this.tell(place));
            return choice;
        });
        const box = by("zero-question");
        box.replaceChildren(make("p", {}, "The counter counts loads. Which instruction makes it count?"),
                            make("div", { class: "choices" }, ...choices));
        box.hidden = false;
        by("zero-say").hidden = true;
        choices[0].focus();
    },
    tell(chosen) {
        const { interrupt, pebs } = zero;
        for (const run of [interrupt, pebs])
            if (!run.samples.length)
                run.toSample();
        const guilty = pebs.guilty, name = mnemonic(pebs, guilty), next = mnemonic(pebs, guilty + 1);
        const says = (run) => `${mnemonic(run, run.blamed)} with ` +
            percent(run.samplesOf(run.blamed), run.samples.length);
        this.guilty = guilty;
        zero.show();
        by("zero-question").replaceChildren(make("p", { role: "status" }, make("b", {}, chosen === guilty ? "Yes. "
            : `No: ${mnemonic(pebs, chosen)} ${DOES[mnemonic(pebs, chosen)]}. `),
            `${name} loads, and nothing else in the loop does. Interrupts say ${says(interrupt)} of their samples: ` +
            `each comes ${times(zero.lateness, "instruction")} too late (on time would be ${next}, the next one), ` +
            `because the processor runs on until the interrupt is taken. PEBS says ${says(pebs)}.`));
        by("zero-question").hidden = false;
        by("zero-say").hidden = true;
        by("zero-ask").focus();
    },
    forget() {
        this.guilty = undefined;
        this.quiet();
    },
    quiet() {
        by("zero-question").hidden = true;
        by("zero-say").hidden = false;
    },
};
