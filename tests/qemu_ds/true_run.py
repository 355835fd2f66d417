# SPDX-License-Identifier: MIT
"""A boot under the plugin whose trace equals what the plugin wrote."""

import re

import cairn_boot as cb
from cairn_log import cairn, keys


def run(tmp_path, preset, cpus, switches, *options, plugin=""):
    """A boot that passes under the plugin: what it was, the keys of its end, and `cairn check` against the plugin's
    truth, which finds nothing."""
    truth = tmp_path / "truth"
    result = cb.boot(tmp_path / "log", "--smp", cpus, "ds=hw", "--qemu-ds",
                     f"preset={preset},exact=flags,stats=on,truth={truth}{plugin}", "truth=1", f"switches={switches}",
                     cb.UNHURRIED, "trace.buffers=1024", *options)
    assert result.status == cb.PASS, result.output
    assert f"PASS: cpus: {cpus} of {cpus}" in result.output
    assert "goes on from a snapshot" not in result.output
    status, text = cairn("check", "--plugin", truth, result.log)
    assert status == 0, text
    rules = ["each PEBS record equal", "each PEBS record, word by word"]
    if "bts=interrupt" in options:
        rules.append("each branch, and those lost")
    for rule in rules:
        assert re.search(rf"^truth: {rule} +[1-9]\d* +0 verified$", text, re.M), text
    return result, keys(result.log, "E"), text
