/* SPDX-License-Identifier: MIT */
/* Elements and numbers. */
"use strict";

const by = (id) => document.getElementById(id);

function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {}))
        if (value !== undefined && value !== false)
            element.setAttribute(name, value === true ? "" : value);
    element.append(...children.filter((child) => child !== undefined && child !== ""));
    return element;
}

const hex = (value, digits = 1) => value.toString(16).toUpperCase().padStart(digits, "0");
const bit = (value, i) => (value >> BigInt(i) & 1n) === 1n;
const bitsOf = (value) => Array.from({ length: 64 }, (_, i) => i).filter((i) => bit(value, i));
const counterName = (i) => i < 32 ? `PMC${i}` : `FIXED_CTR${i - 32}`;
