#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf where there is no PMU: runs perf in a Linux under qemu-ds (guest.py), and there a program of this machine with
the libraries and files it needs. Its output, its exit status and perf's file come out. It can compare what was counted
with what was counted before. Installed it is qemu-ds-perf."""

import argparse
import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import guest  # noqa: E402

NAME = "qemu-ds-perf" if guest.INSTALLED else "perf.py"
READERS = ("annotate", "evlist", "report", "script")
LOADS = ("c2c", "mem")  # only a modelled memory system has latencies; both have "record" and "report" behind options
OWN = ("dev", "proc", "sys")  # folders that the guest has itself
# The size of the environment moves the stack, and with it some counts: it is the same for everybody.
ENVIRONMENT = {"HOME": "/root", "LC_ALL": "C", "PATH": "/usr/bin:/usr/sbin", "PERF_PAGER": "cat", "TERM": "dumb"}
COUNT = re.compile(r"^ +([\d,]+) +(\S+)", re.M)
USAGE = 2


class Wrong(Exception):
    """What is wrong with the arguments."""


def value_of(words, *names):
    """Of one of perf's options, as -o FILE, -oFILE or --output=FILE; None where it is not there."""
    for at, word in enumerate(words):
        for name in names:
            if word == name and at + 1 < len(words):
                return words[at + 1]
            if word.startswith(name + "=" if name.startswith("--") else name) and word != name:
                return word[len(name):].removeprefix("=")
    return None


def absolute(word):
    return Path(os.path.abspath(word))


def found(word):
    """The program, by its name or its path."""
    path = shutil.which(word)
    if not path:
        raise Wrong(f"{word}: is no program of this machine")
    return absolute(path)


def below(path):
    """The file, or all files of the folder."""
    if not path.exists():
        raise Wrong(f"--with {path}: is not there")
    return [path] if path.is_file() else [file for file in sorted(path.rglob("*")) if file.is_file()]


def named_in(data):
    """The files that perf's file names, for their symbols. The system's are the guest's own."""
    for name in sorted(set(re.findall(rb"/[ -~]+(?=\0)", data.read_bytes()))):
        path = Path(name.decode())
        if os.path.isfile(path) and path.parts[1] not in (*OWN, "bin", "lib", "lib64", "sbin", "usr"):
            yield path


def split(words):
    """perf's words, and those of the program behind "--"."""
    at = words.index("--") if "--" in words else len(words)
    if not at:
        raise Wrong("which of perf's commands? For instance: stat -e instructions:u -- ./program")
    return words[:at], words[at + 1:]


def data_of(words):
    """(perf's file, whether it writes it): a file that is there already is not overwritten before the end. (None,
    False) where there is none."""
    verbs = words if words[0] in LOADS else words[:2]
    if "record" in verbs:
        return absolute(value_of(words, "-o", "--output") or "perf.data"), True
    if set(verbs) & set(READERS):
        return absolute(value_of(words, "-i", "--input") or "perf.data"), False
    return None, False


def need_program(words, writes):
    """Without one perf waits until it is ended."""
    if (writes or words[0] == "stat") and not {"-h", "--help", "report"} & set(words):
        raise Wrong("which program? It stands behind '--', as in: stat -e instructions:u -- ./program")


def brought(words, program, data, others):
    """The files that come along, each with its path here: the program, files that the words name, what perf's file
    names where it is read, and `others`."""
    files = [path for other in others for path in below(absolute(other))]
    files += [path for path in map(absolute, [*words, *program[1:]])
              if os.path.isfile(path) and path.parts[1] not in OWN]
    if program:
        files.append(found(program[0]))
    if data:
        if not data.is_file():
            raise Wrong(f"{data}: is not there: 'record' writes it")
        files += [data, *named_in(data)]
    return {str(path).lstrip("/"): path for path in files}


def script(words, program, output):
    """For the guest's shell. perf's file goes where the guest's answer is made of."""
    command = ["env", "-i", *(f"{name}={value}" for name, value in ENVIRONMENT.items()), "perf", *words,
               *(["--", str(found(program[0])), *program[1:]] if program else [])]
    folders = ["/out/files", os.getcwd(), *([str(output.parent)] if output else [])]
    lines = [f"mkdir -p {shlex.join(folders)}", "mount --bind /kallsyms /proc/kallsyms",
             f"cd {shlex.quote(os.getcwd())}",
             f"{shlex.join(command)} </root/stdin", "status=$?"]
    if output:
        lines.append(f"mv {shlex.quote(str(output))} /out/files/data")
    return "\n".join([*lines, "exit $status"])


def counts(text):
    """{event: count} of what `perf stat` prints, behind what its program did."""
    _, _, table = text.rpartition(" Performance counter stats for ")
    return {event: int(count.replace(",", "")) for count, event in COUNT.findall(table)}


def compare(name, counted, baseline, percent):
    """Prints a line for each event. Status: 1 where a count has risen by more than so much, or is not there."""
    worse = 0
    for event, was in baseline.items():
        if event not in counted:
            raise Wrong(f"{event} is in the file, but was not counted")
        now = counted[event]
        more = now - was > was * percent / 100
        worse |= more
        verdict = "too many" if more else "right" if now >= was else "fewer"
        print(f"{NAME}: {name}: {event}: {now}, {now - was:+} ({100 * (now - was) / max(was, 1):+.2f} %): {verdict}",
              file=sys.stderr)
    return int(worse)


def kept_in(path):
    """{command line: {event: count}} of the file."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if all(isinstance(count, int) for counted in kept.values() for count in counted.values()):
            return kept
    except (ValueError, AttributeError):
        pass
    raise Wrong(f"{path}: is no file of --save")


def judge(a, name, text):
    """--check and --save."""
    counted = counts(text)
    if not counted:
        raise Wrong("'perf stat' printed no count: give it no -x, -j or -o")
    path = a.check or a.save
    kept = kept_in(path)
    if a.save:
        path.write_text(json.dumps(kept | {name: counted}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        return 0
    if name not in kept:
        raise Wrong(f"{path}: has no counts of '{name}': put them there with --save {path}")
    return compare(name, counted, kept[name], a.by)


def parser():
    p = argparse.ArgumentParser(
        prog=NAME, usage="%(prog)s [OPTION ...] SUBCOMMAND [ARGUMENT ...] [-- PROGRAM [ARGUMENT ...]]",
        description="Runs perf on PROGRAM of this machine, in an emulated Linux that has a PMU. The program, its "
                    "libraries and the files that its arguments name are copied there. Counts are the same in each "
                    "call.",
        epilog=f"example: {NAME} stat -e instructions:u -- ./bench input.txt")
    guest.add_preset_option(p)
    p.add_argument("--smp", metavar="N", type=guest.above_zero, help="how many processors (1; with a hybrid 2)")
    p.add_argument("--plugin", metavar="OPTIONS", default="",
                   help="more options of the plugin; 'mem' and 'c2c' have memory=model without it")
    p.add_argument("--with", metavar="PATH", action="append", default=[], dest="others",
                   help="bring a file or a folder, too; may be given again")
    either = p.add_mutually_exclusive_group()
    either.add_argument("--save", metavar="FILE", type=Path, help="'stat': keep the counts in this JSON file")
    either.add_argument("--check", metavar="FILE", type=Path,
                        help="'stat': end with status 1 if a count is higher than the one that --save kept")
    p.add_argument("--by", metavar="PERCENT", type=float, default=0,
                   help="with --check: how much higher a count may be (%(default)s)")
    guest.add_snapshot_options(p)
    p.add_argument("--timeout", metavar="S", type=guest.above_zero, default=guest.LIMIT,
                   help="give up after S seconds (%(default)s)")
    p.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return p


def show(_, errors, data):
    stream = sys.stderr if errors else sys.stdout
    stream.buffer.write(data)
    stream.flush()


def call(a, folder):
    words, program = split(a.words)
    if (a.save or a.check) and words[0] != "stat":
        raise Wrong("--save and --check compare what 'stat' counts")
    data, writes = data_of(words)
    if not program:
        need_program(words, writes)
    files = brought(words[1:], program, None if writes else data, a.others)
    if writes:
        files.pop(str(data).lstrip("/"), None)
    files["root/stdin"] = sys.stdin.buffer.read() if sys.stdin and not sys.stdin.isatty() else b""
    smp, plugin = guest.processors(a.preset, a.smp, a.plugin or ("memory=model" if words[0] in LOADS else ""))
    run = guest.run(folder, [script(words, program, data if writes else None)], preset=a.preset, plugin=plugin, smp=smp,
                    append=guest.APPEND, files=files, timeout=a.timeout, cache=a.cache,
                    fresh=a.fresh_seed, apart=True, show=show, **guest.SYSTEM)
    if writes and "data" in run.files:
        data.write_bytes(run.files["data"])
    status = run.said[0].status
    if not a.save and not a.check:
        return status
    if status:
        raise Wrong(f"{shlex.join(program)}: ended with {status}, so that its counts are not compared or kept")
    return judge(a, shlex.join(program), run.said[0].errors)


def main():
    guest.NAME = NAME
    a = parser().parse_args()
    try:
        return guest.in_folder(lambda folder: call(a, folder))
    except Wrong as why:
        print(f"{NAME}: {why} (--help)", file=sys.stderr)
        return USAGE


if __name__ == "__main__":
    sys.exit(main())
