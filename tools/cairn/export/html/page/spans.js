/* SPDX-License-Identifier: MIT */
/* Quick answers about many stretches of time at once: none of them goes through all. */
"use strict";

const work = { steps: 0 }; /* how many things frames and the pointer have looked at so far */

/* Of `count` places in order the first for which `holds` says yes: `count`, where none is. */
function firstWhere(count, holds) {
    let low = 0, high = count;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (holds(middle))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The last index whose time is not after `time`; -1: none. */
function lastAtOrBefore(times, time, count = times.length) {
    let low = 0, high = count;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (times[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

/* Stretches of time that may overlap: {from, to, ...}, in the order of `from`. */
class Spans {
    constructor(items) {
        this.items = items;
        this.from = Float64Array.from(items, (item) => item.from);
        this.latest = Float64Array.from(items, (item) => item.to); /* `to`, of this one and all before it */
        for (let i = 1; i < items.length; i++)
            this.latest[i] = Math.max(this.latest[i], this.latest[i - 1]);
    }
    get count() { return this.items.length; }
    /* The first, from `start` on, that ends behind `time`: `count`, where none does. */
    endsBehind(time, start = 0) {
        return Math.max(start, firstWhere(this.count, (i) => this.latest[i] > time));
    }
    /* One that has a part of from..to; undefined: none. */
    overlap(from, to) {
        const i = this.endsBehind(from);
        return i < this.count && this.from[i] < to ? this.items[i] : undefined;
    }
    /* The last to begin of those around `time`; where many are open at once, one of them. */
    innermost(time) {
        const last = lastAtOrBefore(this.from, time);
        for (let i = last; i >= 0 && i > last - 64 && this.latest[i] >= time; i--, work.steps++)
            if (this.items[i].to >= time)
                return this.items[i];
        const first = firstWhere(this.count, (i) => this.latest[i] >= time);
        return first <= last ? this.items[first] : undefined;
    }
}

/* Of places first to last the one of the greatest length: -1, where none is above 0. A tree holds that of each pair, of
 * each four, and so on. */
class Longest {
    constructor(count, length) {
        this.count = count;
        this.length = length;
        this.tree = new Int32Array(2 * count);
        for (let i = 0; i < count; i++)
            this.tree[count + i] = i;
        for (let i = count - 1; i > 0; i--)
            this.tree[i] = this.longer(this.tree[2 * i], this.tree[2 * i + 1]);
    }
    longer(a, b) { return a >= 0 && (b < 0 || this.length(a) >= this.length(b)) ? a : b; }
    of(first, last) {
        let best = -1;
        for (let a = first + this.count, b = last + this.count + 1; a < b; a >>= 1, b >>= 1) {
            if (a & 1)
                best = this.longer(best, this.tree[a++]);
            if (b & 1)
                best = this.longer(best, this.tree[--b]);
        }
        return best >= 0 && this.length(best) > 0 ? best : -1;
    }
}
