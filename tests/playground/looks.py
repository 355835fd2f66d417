# SPDX-License-Identifier: MIT
"""What a page looks like, measured in the browser: text that is too small or too faint, panels over each other, a page
that is wider than the window."""

SIZES = ((390, 844), (768, 1024), (1280, 720), (1920, 1080))
THEMES = ("light", "dark")

# Each text that is shown with less than 12 px, or with a contrast below 4.5:1 (WCAG 2.2, 1.4.3, which leaves out what
# is disabled). Colours come from a canvas, which knows all ways to write them.
TEXTS = """() => {
    const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 })
        .getContext("2d", { willReadFrequently: true });
    const known = new Map();
    const colour = (text) => {
        if (!known.has(text)) {
            pen.clearRect(0, 0, 1, 1);
            pen.fillStyle = text;
            pen.fillRect(0, 0, 1, 1);
            const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
            known.set(text, [r, g, b, a / 255]);
        }
        return known.get(text);
    };
    const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a)];
    const behind = (element) => {
        const layers = [];
        for (let each = element; each; each = each.parentElement)
            layers.push(colour(getComputedStyle(each).backgroundColor));
        return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
    };
    const opacity = (element) => element ? getComputedStyle(element).opacity * opacity(element.parentElement) : 1;
    const light = (rgb) => rgb.map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), faults = [];
    let seen = 0;
    while (texts.nextNode()) {
        const node = texts.currentNode, element = node.parentElement, text = node.textContent.trim();
        if (!text || !element.checkVisibility({ visibilityProperty: true }) || element.closest("script, style, option")
            || element.closest(".hidden") || element.closest(":disabled"))
            continue;
        seen++;
        const style = getComputedStyle(element), size = parseFloat(style.fontSize), ground = behind(element);
        const [r, g, b, a] = colour(style.color), ink = over([r, g, b, a * opacity(element)], ground);
        const [low, high] = [light(ink), light(ground)].sort((x, y) => x - y), contrast = (high + 0.05) / (low + 0.05);
        if (size < 12 || contrast < 4.5)
            faults.push(`"${text.slice(0, 30)}" in ${element.tagName}.${element.className}: ${size.toFixed(1)} px, ` +
                        `${contrast.toFixed(2)}:1`);
    }
    return { seen, faults };
}"""

# Panels that lie over each other, and none of them in the other; or that end outside of the window.
PANELS = """(selector) => {
    const panels = [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility());
    const boxes = panels.map((each) => each.getBoundingClientRect()), faults = [];
    const name = (each) => each.id || each.className || each.tagName;
    panels.forEach((one, i) => {
        if (boxes[i].right > innerWidth + 1 || boxes[i].left < -1)
            faults.push(`${name(one)} ends at ${boxes[i].right} of ${innerWidth}`);
        panels.slice(i + 1).forEach((other, k) => {
            const [a, b] = [boxes[i], boxes[i + 1 + k]];
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (wide > 1 && high > 1 && !one.contains(other) && !other.contains(one))
                faults.push(`${name(one)} over ${name(other)}`);
        });
    });
    if (document.documentElement.scrollWidth > innerWidth)
        faults.push(`the page has ${document.documentElement.scrollWidth} px of ${innerWidth}`);
    return { seen: panels.length, faults };
}"""


def luminance(colour):
    """Of "#rrggbb", as WCAG 2.2 defines it."""
    parts = (int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722)))


def faults(page, panels):
    """All that is wrong with what the page shows now. `panels` is a selector of its parts."""
    texts, boxes = page.run(f"({TEXTS})()"), page.run(f"({PANELS})({panels!r})")
    assert texts["seen"] > 10 and boxes["seen"] > 3, "nothing was looked at"
    return texts["faults"] + boxes["faults"]
