# SPDX-License-Identifier: MIT
"""What time it was: of an ETL file by its header, of a log of Cairn's by the firmware's clock, in `cairn dump`, in
filters, and in each export as its readers understand it. The dates are computed here, apart from the C code."""

import json
import re
import sqlite3
import struct
import subprocess
from datetime import datetime, timedelta, timezone

import pytest

import cairn_boot
import ctf
import etl
import frames
import make_etl
from cairn_tool import GOLDEN, cairn, errors_of, switch_lines, text_of, with_keys
from etl_windows import Windows
from perfetto import Trace, packets_of

HEADER = 0x48 + 0x20  # TRACE_LOGFILE_HEADER, of 64 bit: its fields
ZONE, BOOT, FREQUENCY, START = HEADER + 0x48, HEADER + 0xF8, HEADER + 0x100, HEADER + 0x108
SECOND = 10_000_000  # of FILETIME
SINCE_1601 = datetime(1601, 1, 1, tzinfo=timezone.utc)
BEGAN = "2019-04-17T18:40:00.0000000Z"  # make_etl.EPOCH
REALTIME = 1  # Perfetto's number


def windows(name="windows-19041-64", **fields):
    """A golden file, with other fields in its header; and its maker."""
    maker = make_etl.maker(name)
    data = bytearray(maker.make())
    for at, value in fields.items():
        struct.pack_into("<q", data, {"boot": BOOT, "frequency": FREQUENCY, "start": START}[at], value)
    return bytes(data), maker


def with_zone(data, bias, standard=(0, 0, 0, 0), daylight=(0, 0, 0, 0)):
    """Month, day of the week, which of them, hour: when each of the two times begins; daylight time is an hour."""
    data = bytearray(data)
    rule = [struct.pack("<8H", 0, *when, 0, 0, 0) for when in (standard, daylight)]
    name = "Zone".encode("utf-16-le").ljust(64, b"\0")
    struct.pack_into("<i64s16si64s16si", data, ZONE, bias, name, rule[0], 0, name, rule[1], -60)
    return bytes(data)


def filetime(year, *rest):
    return (datetime(year, *rest, tzinfo=timezone.utc) - SINCE_1601) // timedelta(microseconds=1) * 10


def iso(units, east=0):
    """A FILETIME as text, so many hours east."""
    local = SINCE_1601 + timedelta(hours=east, seconds=units // SECOND)
    return f"{local:%Y-%m-%dT%H:%M:%S}.{units % SECOND:07d}" + (f"{east:+03d}:00" if east else "Z")


def shown(text):
    """(date and time, rest of the line) of each line with a time of the day."""
    day = None
    for line in text.splitlines():
        found = re.fullmatch(r"# (\d{4}-\d\d-\d\d) (UTC|[+-]\d\d:\d\d)", line)
        day = found or day
        if re.match(r"\d\d:\d\d:\d\d\.\d{7} ", line):
            yield f"{day[1]}T{line[:16]}{'Z' if day[2] == 'UTC' else day[2]}", line[16:]


# ---- dump ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", sorted(make_etl.FILES))
def test_dump_by_each_clock(name):
    """Of counters, of system time and of cycles, 64 and 32 bit: StartTime is that of the header's event."""
    data, maker = windows(name)
    times = sorted((make_etl.EPOCH + (s[0] - 1000) * SECOND // maker.frequency, s[1]) for s in maker.switches)
    text = text_of(cairn("dump", "--clock", "wall", "-", data=data))
    switches = [(at, rest) for at, rest in shown(text) if " > " in rest]
    assert [(at, int(rest[:3])) for at, rest in switches] == [(iso(at), cpu) for at, cpu in times]
    head = next(line for line in text.splitlines() if "time of day" in line and "who left" in line)
    assert len(head) <= 80 and "times of day in UTC" in text
    since_boot = [line[:12] for line in switch_lines(text_of(cairn("dump", "--clock", "boot", "-", data=data)))]
    boot = make_etl.EPOCH - SECOND
    assert since_boot == [f"{(at - boot) // SECOND:4d}.{(at - boot) % SECOND:07d}" for at, _ in times]
    same = cairn("dump", "--clock", "trace", "-", data=data), cairn("dump", "-", data=data)
    assert same[0].stdout == same[1].stdout


def test_a_line_for_each_day():
    start = filetime(2025, 12, 31, 23, 59, 59) + SECOND - 2000  # the switches begin 100 us later
    data, maker = windows(start=start)
    text = text_of(cairn("dump", "--clock", "wall", "-", data=data))
    assert re.findall(r"^# (\d.*)$", text, re.M) == ["2025-12-31 UTC", "2026-01-01 UTC"]
    first = min(s[0] for s in maker.switches)
    assert next(at for at, rest in shown(text) if " > " in rest) == iso(start + first - 1000)


EUROPE = {"bias": -60, "standard": (10, 0, 5, 3), "daylight": (3, 0, 5, 2)}  # the last Sunday
AMERICA = {"bias": 300, "standard": (11, 0, 1, 2), "daylight": (3, 0, 2, 2)}  # the first, the second
CHILE = {"bias": 240, "standard": (4, 0, 1, 0), "daylight": (9, 0, 1, 0)}  # in the South


@pytest.mark.parametrize("zone, start, east", [
    (EUROPE, (2025, 3, 30, 0, 59, 58), 1), (EUROPE, (2025, 3, 30, 1, 0, 0), 2), (EUROPE, (2025, 10, 26, 0, 59, 58), 2),
    (EUROPE, (2025, 10, 26, 1, 0, 0), 1), (EUROPE, (2025, 12, 31, 23, 30, 0), 1),
    (AMERICA, (2024, 3, 10, 6, 59, 58), -5), (AMERICA, (2024, 3, 10, 7, 0, 0), -4),
    (AMERICA, (2024, 11, 3, 5, 59, 58), -4), (AMERICA, (2024, 11, 3, 6, 0, 0), -5),
    (CHILE, (2025, 1, 1, 12, 0, 0), -3), (CHILE, (2025, 7, 1, 12, 0, 0), -4),
    ({"bias": -480}, (2025, 7, 1, 0, 0, 0), 8)])
def test_zones(zone, start, east):
    """That of the traced machine, by its rules for daylight time; and that of this computer, by $TZ."""
    names = {1: "CET-1CEST,M3.5.0,M10.5.0/3", 2: "CET-1CEST,M3.5.0,M10.5.0/3", -5: "EST5EDT,M3.2.0,M11.1.0",
             -4: "EST5EDT,M3.2.0,M11.1.0", 8: "CST-8"}
    begins = filetime(*start)
    data = with_zone(windows(start=begins)[0], **zone)
    for options in ["trace", {}], ["local", {"TZ": names.get(east)}]:
        if zone is CHILE and options[0] == "local":
            continue
        text = text_of(cairn("dump", "--clock", "wall", "--zone", options[0], "-", data=data, env=options[1]))
        assert next(shown(text))[0] == iso(begins, east)
    assert next(shown(text_of(cairn("dump", "--clock", "wall", "-", data=data))))[0] == iso(begins)


@pytest.mark.parametrize("zone, east", [
    ({"bias": 2 ** 31 - 60}, None), ({"bias": -2 ** 31}, None), ({"bias": 1500}, -1), ({"bias": -1500}, 1),
    ({"bias": -60, "standard": (65535, 65535, 65535, 3), "daylight": (65535, 0, 0, 65535)}, None),
    ({"bias": -60, "standard": (10, 7, 65535, 3), "daylight": (3, 14, 9, 2)}, 1)])
def test_zones_that_cannot_be(zone, east):
    """Biases of more than a day, rules of no calendar: some time is shown, and it does not take longer."""
    begins = filetime(2025, 1, 1, 12)
    data = with_zone(windows(start=begins)[0], **zone)
    done = cairn("dump", "--clock", "wall", "--zone", "trace", "-", data=data)
    at = next(shown(text_of(done)))[0]
    assert east is None or at == iso(begins, east)
    assert b"runtime error" not in done.stderr
    text_of(cairn("info", "-", data=data))


def test_info_tells_the_zone_and_all_digits():
    data = with_zone(windows(start=make_etl.EPOCH + 1234567)[0], **EUROPE)
    text = text_of(cairn("info", "-", data=data))
    assert re.search(r"^  began +2019-04-17T18:40:00\.1234567Z$", text, re.M)
    assert re.search(r"^  booted +2019-04-17T18:39:59\.0000000Z$", text, re.M)
    assert re.search(r"^  zone +\+01:00, daylight time \+02:00, Zone$", text, re.M)
    text = text_of(cairn("info", "-", data=windows(start=5)[0]))
    assert re.search(r"^  began +not a date: 5$", text, re.M)


# ---- what a log does not know ----------------------------------------------------------------------------------------

def serial(boot=None, log=GOLDEN / "small.log", **keys):
    parts = frames.read(log.read_bytes())
    with_keys(parts, ({} if boot is None else {"boot.time": boot}) | keys)
    return frames.write(parts)


@pytest.mark.parametrize("clock, data, why", [
    ("wall", windows(start=0)[0], "StartTime in the file's header is not a date; use --clock trace"),
    ("wall", windows(frequency=0)[0], "the file's header does not give the clock's frequency; use --clock trace"),
    ("boot", windows(boot=0)[0], "BootTime in the file's header is not a date; use --clock wall"),
    ("wall", serial(""), "its boot.time is not a date; use --clock boot"),
    ("wall", serial("1600-01-01T00:00:00"), "its boot.time is not a date; use --clock boot"),
], ids=["StartTime", "frequency", "BootTime", "no boot.time", "boot.time"])
def test_what_is_not_known_is_refused(clock, data, why):
    for command in "dump", "check", "stat":
        done = cairn(command, "--clock", clock, "-", data=data)
        first = errors_of(done).split(" cairn: ")[0].split(" damaged: ")[0]
        assert done.returncode == 1 and not done.stdout
        assert first.startswith(f"cairn: --clock {clock}: this log does not tell") and first.endswith(why), first
    done = cairn("dump", "--from", "18:40:00", "-", data=data)
    assert done.returncode == (2 if clock == "wall" else 0)
    lines = [json.loads(line) for line in cairn("export", "--to", "json", "-", data=data).stdout.splitlines()]
    assert ("began" in lines[0]) == (clock != "wall")


def test_a_frequency_of_0_is_said():
    for command in "dump", "check", "info":
        done = cairn(command, "-", data=windows(frequency=0)[0])
        assert done.returncode == 1 and "the file's header gives the clock no frequency: 10 MHz is assumed" in \
            " ".join((done.stdout + done.stderr).decode().split())
    assert "frequency is 0 in the file" in text_of(cairn("info", "-", data=windows(frequency=0)[0]))
    assert cairn("dump", "-", data=windows("windows-system-time", frequency=0)[0]).returncode == 0  # it needs none


@pytest.mark.parametrize("zone, shift, said", [("Z", 0, "whole seconds"), ("+01:00", -1, "whole seconds"),
                                               ("-03:30", 3.5, "whole seconds"),
                                               ("", 0, "whole seconds, its zone not named, UTC assumed")])
def test_a_log_of_cairn_has_the_firmwares_clock(zone, shift, said):
    data = serial(f"2026-11-21T02:10:59{zone}")
    keys = json.loads(cairn("export", "--to", "json", "-", data=data).stdout.splitlines()[0])["keys"]
    start, base, hz = (int(keys[f"session.1.{name}"]) for name in ("start_tsc", "tsc_base", "tsc_hz"))
    began = filetime(2026, 11, 21, 2, 10, 59) + int(shift * 3600) * SECOND + (start - base) * SECOND // hz
    text = text_of(cairn("info", "-", data=data))
    told = re.search(r"^  began +(.*(?:\n {27}.*)*)", text, re.M)[1]
    assert re.sub(r"\s+", " ", told) == f"{iso(began)}, by the firmware's clock: {said}"
    plain = [line[:12] for line in switch_lines(text_of(cairn("dump", "-", data=data)))]
    walled = [at for at, rest in shown(text_of(cairn("dump", "--clock", "wall", "-", data=data))) if " > " in rest]
    assert len(plain) == len(walled) > 100
    assert walled == [iso(began + int(at.replace(".", ""))) for at in plain]
    done = cairn("dump", "--clock", "wall", "--zone", "trace", "-", data=data)
    assert done.returncode == (0 if zone else 1)
    if not zone:
        assert errors_of(done) == "cairn: --zone trace: this log does not name a zone: use --zone utc or local"


def test_the_firmwares_clock_is_that_of_boot_tsc():
    """Not of the session clock's beginning, which is some time later."""
    plain = json.loads(cairn("export", "--to", "json", "-", data=serial()).stdout.splitlines()[0])
    base, hz = (int(plain["keys"][f"session.1.{name}"]) for name in ("tsc_base", "tsc_hz"))
    later = serial(**{"boot.tsc": base - 3 * hz})
    moved = json.loads(cairn("export", "--to", "json", "-", data=later).stdout.splitlines()[0])
    assert int(moved["began_unix_ns"]) - int(plain["began_unix_ns"]) == 3 * 10**9
    lines = [switch_lines(text_of(cairn("dump", "--clock", clock, "-", data=later)))[0] for clock in ("trace", "boot")]
    assert float(lines[1][:12]) - float(lines[0][:12]) == pytest.approx(3, abs=1e-6)


# ---- filters ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["windows-19041-64", "windows-7600-32", "windows-cycles"])
def test_filters_take_what_dump_shows(name):
    data, _ = windows(name)
    whole = list(shown(text_of(cairn("dump", "--clock", "wall", "-", data=data))))
    some = [at for at, rest in whole if " > " in rest]
    first, last = some[20], some[60]
    kept = [(at, rest) for at, rest in whole if first <= at < last]
    assert 30 < len(kept) < len(whole) - 30
    for begin, end in ((first, last), (first[11:-1], last[11:-1]), (first[:-1], f"{last[:-1]}+00:00"),
                       (first.replace("T", " "), last)):
        done = cairn("dump", "--clock", "wall", "--from", begin, "--until", end, "-", data=data)
        assert list(shown(text_of(done))) == kept
    local = cairn("dump", "--from", "21:40", "--until", f"21:{last[14:-1]}", "--clock", "wall",
                  "--zone", "local", "-", data=data, env={"TZ": "EAT-3"})
    assert [rest for _, rest in shown(text_of(local))] == [rest for at, rest in whole if at < last]
    boot = [line for line in text_of(cairn("dump", "--clock", "boot", "-", data=data)).splitlines()
            if re.match(r" +\d+\.\d{7} ", line)]
    at = boot[len(boot) // 2].split()[0]
    done = cairn("dump", "--clock", "boot", "--from", at, "-", data=data)
    assert [line for line in text_of(done).splitlines() if re.match(r" +\d+\.\d{7} ", line)] == \
        [line for line in boot if float(line.split()[0]) >= float(at)]


@pytest.mark.parametrize("time", ["2019-13-01T00:00:00", "2019-04-17", "25:00:00", "18:40:00.", "18:40:00+1",
                                  "2019-04-17T18:40:00Zulu", "18:40:61", "1e3"])
def test_no_times(time):
    done = cairn("dump", "--from", time, GOLDEN / "windows-19041-64.etl")
    assert done.returncode == 2 and "must be a time" in errors_of(done)


# ---- exports ---------------------------------------------------------------------------------------------------------

def export(folder, form, data, name, *options):
    done = cairn("export", "--to", form, *options, "-", "-o", folder / name, data=data)
    assert done.returncode == 0 and bool(done.stdout) == (form == "etl"), done.stderr
    return folder / name


def lines_of(data, *options):
    return [json.loads(line) for line in cairn("export", "--to", "json", *options, "-", data=data).stdout.splitlines()]


SOURCES = {"windows": windows()[0], "windows-7": windows("windows-7600-32")[0], "serial": serial(),
           "zone": serial("2026-11-21T02:10:59+05:30")}
EACH = ["windows", "serial", *map(cairn_boot.long, ("windows-7", "zone"))]


@pytest.mark.parametrize("name", EACH)
def test_json(name):
    data = SOURCES[name]
    lines = lines_of(data, "--clock", "wall")
    began = int(lines[0]["began_unix_ns"])
    assert lines[0]["began"] == iso(began // 100 + filetime(1970, 1, 1))
    if name.startswith("windows"):
        assert lines[0]["began"] == BEGAN
    timed = [line for line in lines if "ns" in line]
    units = {line["time"]: began + line["ns"] for line in timed}
    assert len(timed) > 80 and all(at == iso(ns // 100 + filetime(1970, 1, 1)) for at, ns in units.items())
    without = lines_of(data)
    assert without == [{k: v for k, v in line.items() if k != "time"} for line in lines]


@pytest.mark.parametrize("name", EACH)
def test_ctf(name, tmp_path):
    """By babeltrace2."""
    data = SOURCES[name]
    lines = lines_of(data)
    events = ctf.read(export(tmp_path, "ctf", data, "ctf")).events
    began = int(lines[0]["began_unix_ns"])
    dates = [e["date"] for e in events if e["type"] != "thread"]
    assert dates == [began + line["ns"] for line in lines if "ns" in line]


@pytest.mark.parametrize("name", EACH)
def test_perfetto(name, tmp_path):
    data = SOURCES[name]
    began = int(lines_of(data)[0]["began_unix_ns"])
    trace = Trace(packets_of(export(tmp_path, "perfetto", data, "t.pftrace").read_bytes()))
    assert trace.clocks and all(clocks[REALTIME] == began + clocks[6] - 10**18 for clocks in trace.clocks)


@pytest.mark.parametrize("name", EACH)
def test_perf(name, tmp_path):
    """perf prints the time of the day by the file's CLOCK_DATA, in the zone of $TZ, to microseconds."""
    data = SOURCES[name]
    lines = lines_of(data)
    path = export(tmp_path, "perf.data", data, "t.data")
    try:
        done = subprocess.run(["perf", "script", "-i", path, "--show-switch-events", "--no-itrace",
                               "-F", "tod,cpu,event"], capture_output=True, text=True, check=True,
                              env={"PATH": "/usr/bin", "TZ": "UTC"})
    except FileNotFoundError:
        pytest.skip("no perf: run 'make deps'")
    got = re.findall(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}).* PERF_RECORD_SWITCH_CPU_WIDE OUT", done.stdout)
    began = int(lines[0]["began_unix_ns"])
    wanted = [f"{datetime.fromtimestamp((began + line['ns']) // 10**9, timezone.utc):%Y-%m-%d %H:%M:%S}."
              f"{(began + line['ns']) // 1000 % 10**6:06d}" for line in lines if line["type"] == "switch"]
    assert got == wanted and got


@pytest.mark.parametrize("name", EACH)
def test_sqlite(name, tmp_path):
    data = SOURCES[name]
    lines = lines_of(data, "--clock", "wall")
    db = sqlite3.connect(export(tmp_path, "sqlite", data, "t.db"))
    rows = db.execute("SELECT unix_ns, utc FROM wall_clock ORDER BY id").fetchall()
    began = int(lines[0]["began_unix_ns"])
    wanted = [line for line in lines if "ns" in line and line["type"] not in ("branch", "lost")]
    assert [row[0] for row in rows] == [began + line["ns"] for line in wanted]
    assert [f"{row[1][:-3]}Z" for row in rows] == [line["time"] for line in wanted]
    assert db.execute("SELECT value FROM log WHERE name = 'began'").fetchall() == [(lines[0]["began"],)]


def test_an_export_without_a_date_has_none(tmp_path):
    data = serial("")
    assert {1} & set(Trace(packets_of(export(tmp_path, "perfetto", data, "t").read_bytes())).clocks[0]) == set()
    db = sqlite3.connect(export(tmp_path, "sqlite", data, "t.db"))
    assert db.execute("SELECT count(*) FROM wall_clock").fetchone() == (0,)
    assert not db.execute("SELECT * FROM log WHERE name LIKE 'began%'").fetchall()
    header = etl.header(etl.read(export(tmp_path, "etl", data, "t.etl").read_bytes()))
    assert header.boot_time == 0 and header.start_time < 60 * SECOND  # of 1601
    strict = export(tmp_path, "etl", data, "strict.etl", "--strict")
    assert cairn("dump", "--clock", "wall", strict).returncode == 1


@pytest.mark.parametrize("strict", [[], ["--strict"]], ids=["whole", "strict"])
@pytest.mark.parametrize("zone, east", [("Z", 0), ("+05:30", 5.5), ("", 0)])
def test_etl_files_keep_the_time(tmp_path, zone, east, strict):
    data = serial(f"2026-11-21T02:10:59{zone}", **{"boot.tsc": 5})
    path = export(tmp_path, "etl", data, "t.etl", *strict)
    header = etl.header(etl.read(path.read_bytes()))
    assert header.boot_time == filetime(2026, 11, 21, 2, 10, 59) - int(east * 3600) * SECOND
    assert struct.unpack_from("<i", path.read_bytes(), ZONE) == (-int(east * 60),)
    times = [[at for at, rest in shown(text_of(cairn("dump", "--clock", "wall", *arguments))) if " > " in rest]
             for arguments in ([path], [tmp_path / "t.log"]) if (tmp_path / "t.log").write_bytes(data)]
    assert times[0] == times[1] and len(times[0]) > 100


# ---- no switches -----------------------------------------------------------------------------------------------------

def test_nothing_is_said_of_switches_that_are_not_there(tmp_path):
    data = Windows(switches=False).make()
    assert "switches_from" not in lines_of(data)[0] and "switches_from" in lines_of(SOURCES["windows"])[0]
    trace = Trace(packets_of(export(tmp_path, "perfetto", data, "t").read_bytes()))
    assert "cairn.switches_from" not in trace.attributes
    assert "switches_from" not in (export(tmp_path, "ctf", data, "ctf") / "metadata").read_text(encoding="ascii")
    db = sqlite3.connect(export(tmp_path, "sqlite", data, "t.db"))
    assert not db.execute("SELECT * FROM log WHERE name = 'switches_from'").fetchall()
    assert '"switches_from":""' in export(tmp_path, "html", data, "t.html").read_text(encoding="utf-8")


def test_the_page_tells_when_the_session_began(tmp_path):
    text = export(tmp_path, "html", SOURCES["windows"], "t.html").read_text(encoding="utf-8")
    assert f'"began":"{BEGAN}"' in text
