# SPDX-License-Identifier: MIT
"""What `cairn check` says of whom an ETL file tells."""

import re

from cairn_tool import cairn, text_of

RULE = re.compile(r"^rundown: all that runs is listed, once +(\d+) +(\d+) (.*)$", re.M)


def rule(data):
    """(compared, failed, word, all that check says)"""
    done = cairn("check", "-", data=bytes(data))
    text = re.sub(r"\n +(?=\S)", " ", text_of(done))
    found = RULE.search(text)
    assert (done.returncode == 1) == ("FAIL" in text or bool(done.stderr))
    return (int(found[1]), int(found[2]), found[3], text) if found else (None, None, None, text)
