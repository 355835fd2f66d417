# SPDX-License-Identifier: MIT
"""The playground's two machines: the page's, in a browser, and the native one. Both take settings as a text, and give a
digest of the states of all steps and the bytes of the last one."""

import base64
import json
import subprocess

import pytest

import browser
import cairn_boot

PAGE = cairn_boot.BUILD / "playground.html"
NATIVE = cairn_boot.BUILD / "playground-native"
MARKS = [pytest.mark.skipif(not browser.found(), reason="no Chromium: run 'make deps'"),
         pytest.mark.xdist_group("playground")]  # one browser for all of them

# Each of the texts: what is wrong with it, or its digest; and the state's bytes.
ON_PAGE = """(texts) => texts.map((text) => {
    const error = machine.open(text);
    if (error)
        return [`error ${error}`, ""];
    const digest = BigInt.asUintN(64, machine.exports.play_digest());
    return [digest.toString(16).padStart(16, "0"), stateBase64()];
})"""
BASE64 = """stateBase64 = () => {
    let text = "";
    for (const byte of machine.memory(machine.state, machine.layout.size))
        text += String.fromCharCode(byte);
    return btoa(text);
}"""


def told(option):
    return json.loads(subprocess.run([NATIVE, option], capture_output=True, text=True, check=True).stdout)


class Layout:
    def __init__(self):
        about = told("--layout")
        self.size, self.sentence = about["size"], about["sentence"]
        self.fields = {name: (offset, count, size) for name, offset, count, size in about["fields"]}

    def of(self, state, name):
        """The 64-bit number of that name, or the first of several."""
        offset = self.fields[name][0]
        return int.from_bytes(state[offset:offset + 8], "little")

    def text(self, state):
        """The settings' text."""
        offset = self.fields["text"][0]
        return state[offset:state.index(b"\0", offset)].decode()

    def sentences(self, state):
        offset, count, size = self.fields["said"]
        said = state[offset:offset + count * size]
        texts = (said[i * self.sentence:].split(b"\0", 1)[0].decode() for i in range(self.of(state, "said_count")))
        return list(texts)

    def differences(self, one, other):
        return [name for name, (offset, count, size) in self.fields.items()
                if one[offset:offset + count * size] != other[offset:offset + count * size]]


def native(texts, size):
    """Of each text: (digest or error, state)."""
    done = subprocess.run([NATIVE, "--state", "-"], input="".join(f"{text}\n" for text in texts).encode(),
                          capture_output=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()[-3000:]
    at, results = 0, []
    for _ in texts:
        end = done.stdout.index(b"\n", at)
        line, at = done.stdout[at:end].decode(), end + 1
        state = b"" if line.startswith("error ") else done.stdout[at:at + size]
        at += len(state)
        results.append((line, state))
    assert at == len(done.stdout)
    return results


def on_page(page, texts):
    page.run(f"globalThis.{BASE64}")
    return [(line, base64.b64decode(state)) for line, state in page.run(f"({ON_PAGE})({json.dumps(texts)})")]


def page_state(page, layout):
    return bytes(page.run(f"[...machine.memory(machine.state, {layout.size})]"))
