/* SPDX-License-Identifier: MIT */
/* Scene 0 runs by itself, from part to part, by buttons and keys. */
"use strict";

const zeroTexts = [
    ["Interrupts blame the wrong instruction. PEBS names the right one.",
     "A performance counter counts the loads of this loop. Every few loads a sample is taken: by an interrupt, or by " +
     "Intel's PEBS (processor event-based sampling).",
     "Next: one record"],
    ["The processor writes the record itself.",
     "A load ends, and the processor puts these 64 bytes into memory. No interrupt comes, and no software runs.",
     "Next: one interrupt"],
    [`One interrupt for ${ZERO_SAMPLES} samples.`,
     "PEBS collects its records in a buffer. An interrupt comes when they reach the threshold, not for each sample.",
     "Thirteen scenes more"],
];

const zero = {
    part: 0, lateness: 3, playing: false, began: 0, steps: 0,

    get shown() { return document.documentElement.dataset.view === "zero"; },
    get still() { return matchMedia("(prefers-reduced-motion: reduce)").matches; },
    get runs() { return [this.interrupt, this.pebs]; },
    /* The record and the buffer are looked at from sample to sample. */
    get finished() {
        return this.runs.every((run) => this.part ? run.samples.length === ZERO_SAMPLES : run.done);
    },
    load() {
        this.interrupt = new InterruptRun();
        this.pebs = new PebsRun();
        this.begin();
        zeroPicture.make();
        zeroBuffer.make();
    },
    begin() {
        for (const run of this.runs)
            run.begin(this.lateness);
        this.steps = 0;
    },
    open(part) {
        this.part = part;
        by("zero").dataset.part = part;
        showView("zero", part ? `#why=${part + 1}` : location.hash ? "#" : "");
        const [title, lead, next] = zeroTexts[part];
        by("zero-title").textContent = title;
        by("zero-lead").textContent = lead;
        by("zero-next").textContent = `${next} ▶`;
        by("zero-late").value = this.lateness;
        for (const button of by("zero-parts").children)
            Number(button.dataset.zero) === part ? button.setAttribute("aria-current", "step")
                : button.removeAttribute("aria-current");
        zeroPicture.forget();
        this.again();
    },
    /* From the beginning; without motion, what comes in the end. */
    again() {
        this.begin();
        if (this.part === 1)
            this.pebs.toSample();
        else if (this.still)
            this.finish();
        this.playing = this.part !== 1 && !this.still;
        this.show();
        this.go();
    },
    finish() {
        for (const run of this.runs)
            if (this.part)
                while (run.samples.length < ZERO_SAMPLES)
                    run.toSample();
            else
                run.finish();
    },
    say(text) {
        if (by("zero-say").textContent !== text)
            by("zero-say").textContent = text;
    },
    show() {
        [zeroPicture, zeroRecord, zeroBuffer][this.part].show();
        by("zero-lateness").textContent = times(this.lateness, "instruction");
        by("zero-play").textContent = this.playing ? "❚❚ Pause" : this.finished ? "↻ Again" : "▶ Run";
    },
    /* Slowly at first, so that the eye can follow one sample, then faster: so many moves in a second. */
    get pace() { return this.part ? 5 : Math.min(34, 9 + this.steps / 3); },
    go() {
        const tick = ++this.began; /* of several only the last goes on */
        let due = 0, before;
        const frame = (now) => {
            if (!this.playing || !this.shown || tick !== this.began)
                return;
            due += Math.min(100, now - (before ?? now)) * this.pace / 1000;
            before = now;
            const moves = Math.floor(due);
            due -= moves;
            for (let i = 0; i < moves && !this.finished; i++)
                this.move();
            this.playing = !this.finished;
            if (moves || !this.playing)
                this.show();
            requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
    },
    move() {
        this.steps++;
        for (const run of this.runs)
            if (this.part)
                run.toSample();
            else if (!run.done)
                run.step();
    },
    play() {
        if (this.finished && !this.playing) {
            this.begin();
            zeroPicture.quiet();
        }
        this.playing = !this.playing;
        this.show();
        this.go();
    },
    sample() {
        this.playing = false;
        if (this.finished)
            this.begin();
        for (const run of this.runs)
            run.toSample();
        zeroPicture.quiet();
        this.show();
    },
    /* The same number of samples, with another lateness. */
    late(lateness) {
        const counts = this.runs.map((run) => run.samples.length), { finished } = this;
        this.lateness = Math.max(0, Math.min(Number(by("zero-late").max), lateness));
        by("zero-late").value = this.lateness;
        this.begin();
        this.runs.forEach((run, i) => {
            while (run.samples.length < counts[i])
                run.toSample();
        });
        if (finished)
            this.finish();
        zeroPicture.quiet();
        this.show();
    },
    forward() { this.part < 2 ? this.open(this.part + 1) : control.playScene(() => scene.play(1, 0)); },
    back() { this.open(Math.max(0, this.part - 1)); },

    actions: {
        "zero": () => zero.open(0),
        "zero-play": () => zero.play(),
        "zero-sample": () => zero.sample(),
        "zero-ask": () => zeroPicture.ask(),
        "zero-forward": () => zero.forward(),
        "zero-back": () => zero.back(),
        "zero-open": () => control.open(zero.pebs.settings),
    },
    keys: [
        [[" "], "space", "run or pause", () => zero.part !== 1 && zero.play()],
        [["s"], "s", "run to the next sample", () => zero.part !== 1 && zero.sample()],
        [["+", "="], "+", "one instruction later", () => zero.part || zero.late(zero.lateness + 1)],
        [["-"], "−", "one instruction less late", () => zero.part || zero.late(zero.lateness - 1)],
        [["w"], "w", "whose fault is it?", () => zero.part || zeroPicture.ask()],
        [["n", "ArrowRight"], "n, →", "the next part", () => zero.forward()],
        [["N", "ArrowLeft"], "N, ←", "the part before", () => zero.back()],
        ...control.keys.filter(([names]) => ["t", "?"].includes(names[0])),
    ],
};
