# SPDX-License-Identifier: MIT
"""guest.py's snapshots: what a guest counts that goes on from one is what a guest counts that boots; a snapshot of no
use is refused by its name."""

import io
import json
import os
import re
import signal
import subprocess
import tarfile
import threading
import time
from pathlib import Path

import guest
import initramfs
import known
import perf
import pytest
import snapshots

pytestmark = pytest.mark.xdist_group("warm")  # one boots, for all
STAT = "perf stat -x, -o /tmp/stat -e instructions:u,branches:u"
FEW = ("true", "sed -n 3p /proc/cpuinfo", "seq 500", "sha256sum /bin/busybox")
# None that looks at other processes, or at the time.
APPLETS = ("ar", "arch", "ascii", "base64 /init", "basename a/b", "bc -e 2^100", "cal 2 2000", "cat /init",
           "cksum /init", "cmp /init /init", "cpio -o", "cut -c 3 /init", "date +%Y", "dc -e 2",
           "dd if=/init of=/dev/null bs=7", "df /", "diff /init /etc/passwd", "dirname a/b", "du /etc", "echo a",
           "egrep e /init", "env -i /bin/true", "expand /init", "expr 3 + 4", "factor 1234567890", "false",
           "fgrep e /init", "find /etc", "fold -w 5 /init", "getopt a -a", "grep -c e /init", "gzip -c /init",
           "head -n 3 /init", "hexdump /init", "hostid", "hostname", "id", "install -d /tmp/i", "ipcalc -n 10.0.0.1/8",
           "ln -sf a /tmp/l", "logname", "ls /bin", "lzop -c /init", "md5sum /init", "mkdir -p /tmp/m", "mktemp -u",
           "mv /none /no", "nl /init", "nproc", "od /init", "paste /init /init", "patch --help", "crc32 /init",
           "printenv HOME", "printf %d 7", "pwd", "readlink /bin", "realpath /bin/sh", "rev /init", "rm -f /none",
           "rmdir /none", "run-parts /etc", "sed s/a/b/ /init", "seq 100", "sh -c :", "sha1sum /init",
           "sha256sum /init", "sha3sum /init", "sha512sum /init", "base32 /init", "sort /init", "split /init /tmp/s",
           "ls -d /etc", "strings /init", "stty -a", "sum /init", "sync", "tac /init", "tail -n 3 /init",
           "tar -c /etc/passwd", "tee /tmp/t", "test a", "touch /tmp/u", "tr a b", "truncate -s 9 /tmp/v",
           "tsort /init", "tty", "uname -a", "unexpand /init", "uniq /init", "usleep 1", "uuencode a /init",
           "wc /init", "which sh", "whoami", "xargs true", "xxd /init", "yes --help", "zcat /none",
           "awk 'BEGIN { print 7 }'")


@pytest.fixture(scope="module", name="cache")
def folder_of_snapshots(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache") / "kept"
    run(tmp_path_factory.mktemp("first"), cache, ["true"])
    return cache


def run(tmp_path, cache, commands, **more):
    tmp_path.mkdir(exist_ok=True)
    return guest.run(tmp_path, commands, preset="skylake", append="pti=off nmi_watchdog=0", cache=cache, **more)


def counts(done, programs):
    return {program: re.findall(r"^(\d+),,(?:instructions|branches):u,", said.output, re.M)
            for program, said in zip(programs, done.said)}


def equal(tmp_path, cache, programs):
    commands = [f"{STAT} busybox {program} >/dev/null 2>&1 </dev/null; cat /tmp/stat" for program in programs]
    cold = run(tmp_path / "cold", None, commands, plugin="stats=on")
    assert "translated anew 0 times" in cold.plugin  # blocks count before perf asks
    booted = counts(cold, programs)
    assert all(len(pair) == 2 and int(pair[0]) > 1000 for pair in booted.values())
    assert counts(run(tmp_path / "warm", cache, commands), programs) == booted


def boots(*_):
    raise OSError("boots")


def of_json(cache):
    """Of the snapshot that was used last."""
    return max(cache.glob("*/of.json"), key=lambda path: path.stat().st_mtime)


def test_counts_are_those_of_a_boot(tmp_path, cache):
    equal(tmp_path, cache, FEW)


@pytest.mark.long
def test_counts_of_a_hundred_programs(tmp_path, cache):
    assert len(APPLETS) == 100
    equal(tmp_path, cache, APPLETS)


def test_no_sample_is_left_out(tmp_path, cache):
    """Linux takes all, with a PMI for each, too, though the guest is slow. /kallsyms is what perf would read."""
    program = "busybox sha256sum /root/data"
    commands = [f"perf stat -x, -e instructions:u {program}", "cmp /kallsyms /proc/kallsyms",
                *(f"perf record -q -o /tmp/data -c 1003 -e instructions:{how} {program} && "
                  "perf report -i /tmp/data --stats" for how in ("u", "upp"))]
    said = run(tmp_path, cache, commands, files={"root/data": b"x" * 200000}).said
    assert [one.status for one in said] == [0] * 4
    count = int(re.search(r"^(\d+),,instructions:u", said[0].output, re.M)[1])
    samples = [int(re.search(r"SAMPLE events: +(\d+)", one.output)[1]) for one in said[2:]]
    assert samples[0] == pytest.approx(count / 1003, abs=2) and samples[1] == pytest.approx(count / 1003, rel=0.01)


def test_goes_on(tmp_path, cache, capsys):
    """It boots no more. The clock is right; files and statuses come through."""
    known.assemble(tmp_path)
    commands = ["date +%s", "known 1 2; echo $?", "exit 3", "cat data"]
    files = {"bin/known": tmp_path / "known", "root/data": b"\0\xff\n" * 99999}
    begin = int(time.time())
    done = run(tmp_path, cache, commands, files=files)
    assert "Linux version" not in done.console and "Linux version" in done.dmesg
    assert begin <= int(done.said[0].output) <= time.time() + 1  # the snapshot's clock is behind
    assert [said.status for said in done.said] == [0, 0, 3, 0]
    assert len(done.said[3].output) == 3 * 99999
    assert capsys.readouterr().err == ""


def test_addresses(tmp_path, cache):
    commands = ["grep stack /proc/self/maps"]
    places = [run(tmp_path, cache, commands, fresh=fresh).said[0].output for fresh in (False, False, True, True)]
    assert places[0] == places[1] and len(set(places)) == 3


@pytest.mark.long
def test_two_at_once(tmp_path):
    """They make it once."""
    done, cache = [], tmp_path / "kept"
    threads = [threading.Thread(target=lambda i=i: done.append(run(tmp_path / str(i), cache, ["echo done"])))
               for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.said[0].output for one in done] == ["done\n"] * 2
    assert not any("Linux version" in one.console for one in done) and of_json(cache)


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))


def damage_record(path):
    path.write_text(path.read_text(encoding="utf-8")[:-9], encoding="utf-8")


def another_kernel(path):
    made = json.loads(path.read_text(encoding="utf-8"))
    kernel = next(name for name in made["of"] if "vmlinuz" in name)
    made["of"][kernel][0] += 1
    path.write_text(json.dumps(made), encoding="utf-8")


def another_host(path):
    made = json.loads(path.read_text(encoding="utf-8"))
    made["khz"] = (made["khz"] or 1000) * 2
    path.write_text(json.dumps(made), encoding="utf-8")


@pytest.mark.parametrize("harm, why", [
    (lambda path: flip(path.with_name("ram"), 1 << 20), r"ram: is damaged"),
    (lambda path: flip(path.with_name("state"), 100), r"state: is damaged"),
    (lambda path: os.truncate(path.with_name("ram"), 1 << 20), r"ram: is damaged"),
    (damage_record, r"of\.json: is damaged"),
    (lambda path: path.with_name("ram").chmod(0o666), r"ram: other users can write there"),
    (lambda path: path.parent.chmod(0o770), r"[0-9a-f]{16}: other users can write there"),
    (another_kernel, r".*vmlinuz\S* has changed since"),
    (another_host, r"[0-9a-f]{16}: the TSC of its host ran at \d+ kHz, that of this one at \d+"),
], ids=["memory", "state", "cut", "record", "writable", "folder", "kernel", "tsc"])
def test_refused(tmp_path, cache, capsys, monkeypatch, harm, why):
    """A line names the snapshot. The guest boots anew, which is left out here."""
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", cache, copy], check=True)
    monkeypatch.setattr(guest.Guest, "make_snapshot", boots)
    harm(of_json(copy))
    with pytest.raises(OSError, match="boots"):
        run(tmp_path, copy, ["true"])
    said = capsys.readouterr().err
    assert re.search(rf"^guest\.py: \S*{why}: the guest boots anew$", said, re.M), said


def test_copied(tmp_path, cache, monkeypatch):
    """Nothing is wrong with a copy."""
    subprocess.run(["cp", "-a", cache, tmp_path / "copy"], check=True)
    monkeypatch.setattr(guest.Guest, "make_snapshot", boots)
    assert run(tmp_path, tmp_path / "copy", ["echo done"]).said[0].output == "done\n"


def test_qemu_refuses(tmp_path, cache, capsys, monkeypatch):
    """A snapshot that seemed to be in order."""
    subprocess.run(["cp", "-a", cache, tmp_path / "copy"], check=True)
    os.truncate(of_json(tmp_path / "copy").with_name("state"), 1000)
    monkeypatch.setattr(guest.Guest, "make_snapshot", boots)
    parts = json.loads(of_json(cache).read_text(encoding="utf-8"))["parts"]
    monkeypatch.setattr(snapshots, "digest", lambda path: parts[path.name])
    with pytest.raises(OSError, match="boots"):
        run(tmp_path, tmp_path / "copy", ["true"])
    assert re.search(r"^guest\.py: \S*/[0-9a-f]{16}: cannot be loaded: QEMU", capsys.readouterr().err, re.M)


def test_truth_is_of_a_whole_run(tmp_path, cache, capsys, monkeypatch):
    monkeypatch.setattr(guest.Guest, "boot", boots)
    with pytest.raises(OSError, match="boots"):
        run(tmp_path, cache, ["true"], plugin=f"truth={tmp_path / 'truth'}")
    assert capsys.readouterr().err == "guest.py: truth= is about a whole run: no snapshot is used\n"


def test_trimmed_by_two(tmp_path):
    """What another call removes at the same time is no error of the one that has made its own."""
    kept = snapshots.Snapshots(tmp_path / "kept")
    gone = kept.folder / "gone"
    gone.mkdir()
    (gone / "of.json").touch()
    (gone / "ram").symlink_to("removed")

    def make(folder):
        for name in snapshots.FILES:
            (folder / name).touch()
        return []

    with kept.of("asked", make, lambda line: None) as folder:
        assert (folder / "of.json").exists()


def test_link_of_a_root(tmp_path):
    """It leads nowhere here, which is no error. Where it leads elsewhere, the guest boots anew."""
    kept, link, said = snapshots.Snapshots(tmp_path / "kept"), tmp_path / "link", []

    def make(folder):
        for name in snapshots.FILES:
            (folder / name).touch()
        return [link]

    for target in ("/no/such", "/no/such", "/no/other"):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        with kept.of("asked", make, said.append):
            pass
    once = f"the guest boots once; its snapshot is kept in {kept.folder}"
    assert [line.split(": ", 1)[-1] for line in said] == [once, f"{link} has changed since: the guest boots anew", once]


def test_no_folder():
    with pytest.raises(snapshots.Refused, match=r"^/dev/null/kept: cannot be made: Not a directory \(--cache DIR, or"):
        snapshots.Snapshots(Path("/dev/null/kept"))


def test_a_folder_of_others(tmp_path):
    tmp_path.chmod(0o777)
    with pytest.raises(snapshots.Refused, match="other users can write there"):
        run(tmp_path, tmp_path, ["true"])


@pytest.mark.parametrize("ends, status", [(signal.SIGINT, 130),
                                          *(pytest.param(*both, marks=pytest.mark.long)
                                            for both in ((signal.SIGTERM, 143), (signal.SIGHUP, 129)))])
def test_output_comes_while_it_runs(tmp_path, cache, ends, status):
    """In order. A signal ends the guest, and leaves nothing behind."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    command = [guest.__file__, "--preset", "skylake", "--cache", cache, "printf one", "true",
               "echo two >&2; sleep 1000"]
    # A job in the background, as these tests may be, has SIGINT ignored.
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"TMPDIR": str(folder)},
                          preexec_fn=lambda: signal.signal(ends, signal.SIG_DFL)) as process:
        said = [process.stdout.readline() for _ in range(5)]
        assert said == [b"# printf one\n", b"one\n", b"# true\n", b"# echo two >&2; sleep 1000\n", b"two\n"]
        assert list(folder.iterdir())
        process.send_signal(ends)
        assert process.wait(60) == status
    assert not list(folder.iterdir())
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(folder).encode() in content(path)]


def content(path):
    try:
        return path.read_bytes()
    except OSError:  # it has ended
        return b""


def test_what_runs_on(tmp_path, cache):
    """What a command leaves running may still write. Errors may be apart."""
    shown = []
    said = run(tmp_path, cache, ["echo a; echo b >&2; (sleep 2; echo c) & true", "sleep 4"], apart=True,
               show=lambda *new: shown.append(new)).said
    assert (said[0].output, said[0].errors) == ("a\nc\n", "b\n")
    assert sorted(shown[:2]) == [(0, False, b"a\n"), (0, True, b"b\n")] and shown[2:] == [(0, False, b"c\n")]


def test_output_that_cannot_be_sent(tmp_path, cache):
    """The rest comes at the end, and nothing is missing in between."""
    shown = []
    command = "echo a; sleep 2; ln -sf /dev/full /new; echo b; sleep 2; rm /new; echo c; sleep 2"
    said = run(tmp_path, cache, [command, "echo d"], show=lambda *new: shown.append(new)).said
    assert [one.output for one in said] == ["a\nb\nc\n", "d\n"]
    assert b"".join(data for _, _, data in shown) == b"a\nb\nc\nd\n"


def test_output_that_was_lost(tmp_path, monkeypatch, capsys):
    """A line says so, and then all of it comes."""
    sent, shown = io.BytesIO(), []
    with tarfile.open(fileobj=sent, mode="w") as tar:
        for name, data in {"0": b"abc", "0.err": b"", "0.status": b"0", "dmesg": b""}.items():
            initramfs.add_to(tar, name, data)

    def go_on(*arguments):
        arguments[-1]("0", b"ac")
        return sent.getvalue(), ""

    monkeypatch.setattr(guest.Guest, "go_on", go_on)
    run(tmp_path, tmp_path, ["it"], show=lambda *new: shown.append(new))
    assert shown == [(0, False, b"ac"), (0, False, b"abc")]
    assert capsys.readouterr().err == f"{guest.NAME}: some of the output was lost while a command ran; " \
                                      "here is all that it wrote:\n"


@pytest.mark.parametrize("tool", [guest.__file__, perf.__file__])
def test_nobody_reads_on(cache, tool):
    """As behind `| head`: it ends with no word, as other programs do."""
    options = ["--preset", "skylake", "--cache", cache]
    words = ["echo one", "echo two"] if tool == guest.__file__ else ["stat", "--", "echo", "one"]
    with subprocess.Popen([tool, *options, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 128 + signal.SIGPIPE)


def test_shell(cache):
    """On a terminal; it ends when the shell does, with its status."""
    master, terminal = os.openpty()
    command = [guest.__file__, "--preset", "skylake", "--cache", cache, "--shell"]
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        said = b""
        for prompts, line in ((1, b"echo $((6 * 7)) >/tmp/x; cat /tmp/x; tty\r"), (2, b"exit 5\r")):
            while said.count(b"guest# ") < prompts:
                said += os.read(master, 4096)
            os.write(master, line)
        assert process.wait() == 5
    assert b"\r\n42\r\n/dev/hvc0\r\n" in said


def test_shell_without_a_terminal():
    done = subprocess.run([guest.__file__, "--shell"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2 and done.stderr.endswith("error: --shell needs a terminal\n")
