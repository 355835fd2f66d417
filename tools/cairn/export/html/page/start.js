/* SPDX-License-Identifier: MIT */
/* What happens when the page is opened. */
"use strict";

/* How far the trace reaches: to where the session ended, or the last thing there is. */
function extentOf(trace) {
    const { switches } = trace;
    let { first, last } = meta;
    const take = (time) => {
        first = Math.min(first, time);
        last = Math.max(last, time);
    };
    for (let i = 0; i < switches.count; i++)
        take(switches.time[i]);
    for (const kind of ["records", "drains", "locks", "events", "btsdrains"])
        for (const thing of trace[kind])
            take(thing.time);
    return { first, last };
}

const DECODED_AT_ONCE = 1 << 22; /* bytes, between two words of how far it is */

async function main() {
    const breathe = () => new Promise((done) => setTimeout(done));
    const say = async (words) => {
        element("loading").textContent = words;
        await breathe();
    };
    theme.apply();
    threads.read();
    const bytes = await readStream((share) => say(`Reading the trace: ${Math.round(100 * share)} %`));
    const reader = new ItemReader(bytes);
    while (reader.at < bytes.length) {
        reader.read(Math.min(bytes.length, reader.at + DECODED_AT_ONCE));
        await say(`Decoding: ${Math.round(100 * reader.at / bytes.length)} %`);
    }
    await say("Who ran where, and when …");
    const { trace } = reader, extent = extentOf(trace);
    const model = { ...extent, ...new TrackMaker(trace, extent.last).run() };
    await say("The records, and where they lay …");
    arrange(trace, model);
    const view = new View(trace, model);
    view.start();
    element("loading").remove();
    document.documentElement.dataset.ready = "yes";
}
main();
