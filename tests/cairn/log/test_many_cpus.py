# SPDX-License-Identifier: MIT
"""Logs of more CPUs than a word has bits, as many as there can be among them."""

import subprocess

import pytest

import cairn_boot
from cairn_tool import cairn, text_of


@pytest.fixture(scope="module", params=[65, 200, 256])
def wide(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("wide") / f"{request.param}.log"
    with open(path, "wb") as file:
        subprocess.run([cairn_boot.BUILD / "make_golden", "wide", "6000", str(request.param)], stdout=file, check=True)
    return request.param, path


def test_each_is_read_checked_and_merged(wide):
    cpus, path = wide
    assert cairn("check", path).returncode == 0
    shown = [line.split() for line in text_of(cairn("dump", path)).splitlines() if line and not line.startswith("#")]
    times = [float(words[0]) for words in shown]
    assert times == sorted(times)
    assert {int(words[1]) for words in shown} == set(range(cpus))


def test_the_last_one_alone(wide):
    cpus, path = wide
    shown = [line.split() for line in text_of(cairn("dump", "--cpu", str(cpus - 1), path)).splitlines()
             if line and not line.startswith("#")]
    assert shown and {int(words[1]) for words in shown} == {cpus - 1}
    if cpus < 256:
        refused = cairn("dump", "--cpu", str(cpus), path)
        assert refused.returncode == 2 and f"this trace has {cpus} CPUs" in refused.stderr.decode()


def test_as_etl_and_back(wide, tmp_path):
    cpus, path = wide
    assert cairn("export", "--to", "etl", path, "-o", tmp_path / "x.etl").returncode == 0
    assert cairn("check", tmp_path / "x.etl").returncode == 0
    refused = cairn("dump", "--cpu", "255", tmp_path / "x.etl")
    assert f"this trace has {cpus} CPUs" in refused.stderr.decode() or cpus == 256
