# SPDX-License-Identifier: MIT
"""`cairn export --to sqlite`: the tables hold what `--to json` tells, row by row and in its order, which is what `cairn
dump` tells (test_export.py); the views say what `cairn stat` and `cairn profile` say; the queries of the page give what
the page shows."""

import json
import re
import sqlite3

import pytest

import cairn_boot
import frames
from cairn_tool import ALL_LOGS, GOLDEN, SAMPLES, cairn, damaged, errors_of, events, patch, text_of, with_keys

PAGE = cairn_boot.ROOT / "docs" / "how-to" / "sqlite.md"


def database(folder, source, *options, data=None):
    path = folder / "t.db"
    done = cairn("export", "--to", "sqlite", *options, source, "-o", path, data=data)
    assert not done.stdout and b"Sanitizer" not in done.stderr, done.stderr.decode()
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    return done, db


def signed(text):
    value = int(text, 16)
    return value - 2**64 if value >> 63 else value


def thread(line, name):
    return line[name]["tid"] if name in line else None


def lost_of(line):
    return None if line.get("lost_unknown") else line["lost"] - 2**64 if line["lost"] >> 63 else line["lost"]


def row_of(line):
    """Table and columns, of a line of JSON."""
    kind, at = line["type"], {"ns": line.get("ns"), "cpu": line["cpu"]}
    if kind == "switch":
        return "switches", {**at, "old_tid": line["old"]["tid"], "new_tid": thread(line, "new"), **{
            name: line.get(name) for name in ("form", "state", "reason", "state_or_reason", "priority",
                                              "new_waited_ticks", "new_priority", "wait_mode", "ideal_cpu")},
            "or_more": int(line.get("or_more", 0)) if "new_waited_ticks" in line else None}
    if kind == "sample":
        return "records", {**at, "timed": line["timed"], "ip": signed(line["ip"]), "function": line.get("function"),
                           "ip_is_after": line.get("ip_is_after", False), "tid": thread(line, "thread"),
                           "no_thread": line.get("no_thread"), "epoch": line["epoch"], "format": line["format"],
                           "address": signed(line["address"])}
    if kind in ("drain", "branch_drain"):
        more = {"buffer": "PEBS", "complete": line["complete"], "tid": None, "circular": None} if kind == "drain" else \
            {"buffer": "BTS", "tid": thread(line, "thread"), "circular": line["circular"]}
        return "drains", {**at, "epoch": line["epoch"], "reason": line["reason"], "records": line["records"],
                          "lost": lost_of(line), **more}
    if kind == "branch":
        return "branch_list", {**at, "epoch": line["epoch"], "tid": thread(line, "thread"), "number": line["number"],
                               **{f"{end}_ip": signed(line[end]) for end in ("from", "to")},
                               **{f"{end}_function": line.get(f"{end}_function") for end in ("from", "to")},
                               "flags": signed(line["flags"])}
    if kind == "lock":
        return "locks", {**at, "lock": signed(line["lock"]), "caller": signed(line["caller"]),
                         "tid": thread(line, "thread"), **{name: line.get(name) for name in (
                             "name", "function", "mode", "acquired_ns", "released_ns", "wait_cycles", "spins",
                             "interrupts", "irql", "depth", "in_dpc", "in_isr")}}
    if kind == "event":
        provider = line.get("provider", {})
        return "events", {**at, "hook": line.get("hook"), "text": line["text"], "provider": provider.get("name"),
                          "number": line.get("id", line.get("event_type", line.get("message", {}).get("number"))),
                          "provider_guid": provider.get("guid", line.get("message", {}).get("guid"))}
    assert kind == "lost"
    return "loss", {"cpu": line["cpu"], **{name: line.get(name) for name in (
        "kind", "text", "first_buffer", "buffers", "bytes", "since_ns", "until_ns")}}


def check(folder, source, *options, data=None):
    """Both exports of one log: the same items in the same order. The database, and the lines."""
    done, db = database(folder, source, *options, data=data)
    other = cairn("export", "--to", "json", *options, source, data=data)
    assert (done.returncode, done.stderr) == (other.returncode, other.stderr)
    lines = [json.loads(line) for line in other.stdout.decode("utf-8").splitlines()]
    tables = ("switches", "records", "drains", "branch_list", "locks", "events", "loss")
    rows = sorted(((row["id"], table, row) for table in tables for row in db.execute(f"SELECT * FROM {table}")),
                  key=lambda row: row[0])
    items = [line for line in lines if line["type"] not in ("trace", "thread", "end")]
    assert [row[0] for row in rows] == list(range(1, len(items) + 1))
    for (number, table, row), line in zip(rows, items):
        expected_table, expected = row_of(line)
        assert (table, {name: row[name] for name in expected}) == (expected_table, expected), line
        if table == "records":
            words = db.execute("SELECT name, at, value FROM fields WHERE record = ? ORDER BY at", (number,)).fetchall()
            assert [signed(value) for value in line["record"].values()] == [word["value"] for word in words]
            assert [name.split("@")[0] for name in line["record"]] == [word["name"] for word in words]
        if table == "events" and "fields" in line:
            fields = db.execute("SELECT name, value FROM event_fields WHERE event = ? ORDER BY number", (number,))
            assert [dict(field) for field in fields] == line["fields"]
    facts = dict(db.execute("SELECT name, value FROM log").fetchall())
    assert {name: facts[name] for name in ("missing_frames", "damaged_frames")} == \
        {name: lines[-1][name] for name in ("missing_frames", "damaged_frames")}
    assert [facts[f"loss.{i}"] for i in range(1, len(lines[0]["losses"]) + 1)] == lines[0]["losses"]
    assert facts.get("emulated_ds") == lines[0].get("emulated_ds") and facts.get("bad_end") == lines[0].get("bad_end")
    assert dict(db.execute("SELECT name, value FROM keys").fetchall()) == lines[0]["keys"]
    named = {line["tid"]: (line["name"] if line["tid"] else "idle") for line in lines if line["type"] == "thread"}
    assert dict(db.execute("SELECT tid, name FROM threads WHERE name IS NOT NULL").fetchall()) == named
    return db, lines


@pytest.mark.parametrize("log", ALL_LOGS, ids=lambda path: path.name)
def test_tables_are_what_json_is(tmp_path, log):
    db, _ = check(tmp_path, log)
    assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert not db.execute("PRAGMA foreign_key_check").fetchall()


@pytest.mark.parametrize("options", [["--cpu", "0"], ["--from", "10ms", "--until", "20ms"], ["--by", "index"]])
def test_part(tmp_path, options):
    check(tmp_path, GOLDEN / "lost.log", *options)


def span(text):
    number, unit = text.split()
    return float(number) * {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]


@pytest.mark.parametrize("log", [SAMPLES / "plain.log", SAMPLES / "branches.log", GOLDEN / "lost.log",
                                 GOLDEN / "ring.log", GOLDEN / "full.log"], ids=lambda path: path.name)
def test_views_say_what_stat_and_profile_do(tmp_path, log):
    _, db = database(tmp_path, log)
    stat = text_of(cairn("stat", "--top", "1000", log))
    part = stat[stat.index("threads by time on a CPU"):]
    told = re.findall(r"^  (\S+:\d+) +[\d.]+ % +([\d.]+ \w+) +(\d+) +(\d+)$", part, re.M)
    threads = {f"{row['name'] or 'thread'}:{row['tid']}": row
               for row in db.execute("SELECT * FROM time_on_cpu WHERE tid <> 0 AND (ns OR switched_out)")}
    assert told and len(told) == len(threads)
    for name, time, out, records in told:
        row = threads[name]
        assert (row["switched_out"], row["records"]) == (int(out), int(records))
        assert abs(row["ns"] - span(time)) <= 10 ** (len(str(row["ns"])) - 3)  # stat's digits
    range_ns = db.execute("SELECT max(value) - min(value) FROM log WHERE name IN ('begins_ns', 'ends_ns')").fetchone()
    shares = re.findall(r"^ +(\d+) +(\d+) +([\d.]+) % +([\d.]+) % +([\d.]+) %$", stat, re.M)
    cpus = {row["cpu"]: row for row in db.execute("SELECT * FROM time_by_cpu")}
    assert shares and len(shares) == len(cpus)
    for cpu, switches, *percents in shares:
        row = cpus[int(cpu)]
        assert row["switches"] == int(switches)
        got = [100 * row[name] / range_ns[0] for name in ("busy_ns", "idle_ns", "unknown_ns")]
        assert all(abs(a - float(b)) < 0.02 for a, b in zip(got, percents)), (got, percents)
    profile = text_of(cairn("profile", "--top", "1000", log))
    told = re.findall(r"^ +(\d+) +[\d.]+ % +(\S+?):(\d+) +(\S+)$", profile, re.M)
    rows = db.execute("SELECT records, thread, tid, function FROM profile WHERE tid IS NOT NULL").fetchall()
    assert sorted((int(n), name, int(tid), function) for n, name, tid, function in told) == \
        sorted((row[0], row[1] or "thread", row[2], row[3]) for row in rows)


def test_the_page(tmp_path):
    """Its queries print what it shows, as the command line of SQLite prints it."""
    queries = re.findall(r"^```sql\n(.*?)^```\n```\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(queries) == 8
    made = {}
    for sql, shown in queries:
        log = (re.match(r"-- (\w+)\.db\n", sql) or [None, "plain"])[1]
        if log not in made:
            (tmp_path / log).mkdir()
            made[log] = database(tmp_path / log, SAMPLES / f"{log}.log")[1]
        rows = made[log].execute(sql).fetchall()
        assert rows and shown == "".join("|".join("" if value is None else str(value) for value in row) + "\n"
                                         for row in rows), sql


def test_the_same_log_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        assert cairn("export", "--to", "sqlite", GOLDEN / "lost.log", "-o", tmp_path / name).returncode == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_any_number_and_any_text(tmp_path):
    """Numbers that have bit 63, keys that are the same once they are UTF-8, and text that is none."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    with_keys(parts, {'ds."quoted"\\': "'\"\\", "ds.\u00e4": "\u00e4"})
    parts = [(s, p.replace(b" server-3\n", b" s'\\\xC3\xA4\xFFr\n")) for s, p in parts]
    drain = next((i, at) for i, at, hook, _ in events(parts) if hook == 0xCA01)
    patch(parts, drain, 16 + 0x10, (2**63 + 5).to_bytes(8, "little"))  # its `lost`
    db, _ = check(tmp_path, "-", data=frames.write(parts))
    assert 5 - 2**63 in [row[0] for row in db.execute("SELECT lost FROM drains")]
    assert db.execute("SELECT name FROM threads WHERE tid = 20").fetchone()[0] == "s'\\\u00e4?r"  # as everywhere


@pytest.mark.parametrize("seed", range(8))
def test_hostile(tmp_path, seed):
    check(tmp_path, "-", data=damaged(seed, ["bts", "full", "locks", "lost", "told"]))


def test_a_database_of_others_is_kept(tmp_path):
    path = tmp_path / "t.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE notes (text)")
    before = path.read_bytes()
    done = cairn("export", "--to", "sqlite", GOLDEN / "small.log", "-o", path)
    assert done.returncode == 2 and "not a file of the format sqlite" in errors_of(done) and path.read_bytes() == before
    done = cairn("export", "--to", "sqlite", GOLDEN / "small.log", "-o", "/dev/null")
    assert done.returncode == 2 and "is not a regular file" in errors_of(done)
    done = cairn("export", "--to", "sqlite", "--thread", "8", GOLDEN / "small.log", "-o", tmp_path / "part.db")
    assert done.returncode == 2 and not (tmp_path / "part.db").exists()
