#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns ds/events into C: which events each kind of core counts and records by PEBS, and on which counters.

    tools/events.py FOLDER        C text: ds_core_data of ds/events/events.h, ds_event_data of ds/event_data.h

Lists of one generation (cores.tsv) must say the same about an event, or nothing. If a file lacks something or says it
twice, the script ends with one line that names file and line.
"""

import csv
import re
import sys
from pathlib import Path

# The names that stand for a kind (enum ds_event_kind), the first that a list has, and Intel's name where a fixed
# counter counts the same.
KINDS = {
    "INSTRUCTIONS": (["INST_RETIRED.ANY_P"], ["INST_RETIRED.ANY"]),
    "CYCLES": (["CPU_CLK_UNHALTED.THREAD_P", "CPU_CLK_UNHALTED.CORE_P"],
               ["CPU_CLK_UNHALTED.THREAD", "CPU_CLK_UNHALTED.CORE"]),
    "BRANCHES": (["BR_INST_RETIRED.ALL_BRANCHES_PEBS", "BR_INST_RETIRED.ALL_BRANCHES"], []),
    "CONDITIONAL": (["BR_INST_RETIRED.CONDITIONAL", "BR_INST_RETIRED.COND", "BR_INST_RETIRED.JCC"], []),
    "NEAR_TAKEN": (["BR_INST_RETIRED.NEAR_TAKEN"], []),
    "NEAR_CALL": (["BR_INST_RETIRED.NEAR_CALL", "BR_INST_RETIRED.CALL"], []),
    "NEAR_RETURN": (["BR_INST_RETIRED.NEAR_RETURN", "BR_INST_RETIRED.RETURN"], []),
    "FAR_BRANCH": (["BR_INST_RETIRED.FAR_BRANCH"], []),
    "PREC_DIST": (["INST_RETIRED.PREC_DIST"], []),
    "LOAD_LATENCY": (["MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4", "MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_4",
                      "MEM_UOPS_RETIRED.LOAD_LATENCY_GT_4"], []),
    "FRONTEND": (["FRONTEND_RETIRED.DSB_MISS"], []),
    "STORE_SAMPLE": (["MEM_TRANS_RETIRED.STORE_SAMPLE", "MEM_UOPS_RETIRED.STORE_LATENCY"], []),
}
# Architectural (SDM vol. 3B, "Pre-defined Architectural Performance Events"): on every counter, listed or not.
ARCHITECTURAL = {"INSTRUCTIONS": (0x00C0, 0), "CYCLES": (0x003C, 1), "BRANCHES": (0x00C4, None)}
EVERY_GP = (1 << 32) - 1
CORES = ["core", "generation", "models", "core_type", "native_model", "list", "version"]
INTEL = ["core", "event", "code", "umask", "umask_ext", "counters", "pebs", "pebs_counters", "precise", "taken_alone",
         "errata"]
ADDED = ["generation", "event", "code", "umask", "umask_ext", "counters", "pebs_counters", "precise", "taken_alone",
         "source"]


class Wrong(Exception):
    """One line: what is wrong with the data, and where."""


def read(path, columns):
    """Rows as dictionaries, with "at": file and line."""
    with path.open(encoding="ascii", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    if not rows or rows[0] != columns:
        raise Wrong(f"{path}:1: the columns have to be {', '.join(columns)}")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(columns):
            raise Wrong(f"{path}:{number}: {len(row)} columns, not {len(columns)}")
    return [dict(zip(columns, row), at=f"{path}:{number}") for number, row in enumerate(rows[1:], 2)]


def number_of(row, column, most):
    text = row[column]
    try:
        value = 0 if text == "-" else int(text, 16)
    except ValueError as e:
        raise Wrong(f"{row['at']}: {column} is {text!r}, not a hexadecimal number") from e
    if value > most:
        raise Wrong(f"{row['at']}: {column} is {text!r}, more than {most:#x}")
    return value


def select(row):
    """IA32_PERFEVTSELx: event select, unit mask and UMaskExt."""
    return (number_of(row, "code", 0xFF) | number_of(row, "umask", 0xFF) << 8 |
            number_of(row, "umask_ext", 0xFF) << 40)


def mask(row, column):
    """Counters 0,1,... as in IA32_PERF_GLOBAL_CTRL: 32 is fixed counter 0. Older lists count these from 1."""
    text = row[column]
    if text == "-" or text.startswith("fixedcounter"):
        return 0
    try:
        counters = [int(part) for part in text.split(",")]
    except ValueError as e:
        raise Wrong(f"{row['at']}: {column} is {text!r}, not counters as in 0,1,2") from e
    if min(counters) < 0 or max(counters) > 47:
        raise Wrong(f"{row['at']}: {column} is {text!r}: there are counters 0 to 47")
    return sum(1 << n for n in set(counters))


def recorded(row):
    """The counters on which PEBS records it. Lists of processors before Ice Lake say so in `pebs`, and in
    `pebs_counters` only where these are fewer; later ones leave 0 there and fill `precise`."""
    if row.get("pebs", "0") == "0" and row["precise"] == "-":
        return 0
    return mask(row, "pebs_counters") or mask(row, "counters")


def row_of(rows, kind):
    """The row of one list that stands for a kind, or None."""
    return next((rows[name] for name in KINDS[kind][0] if name in rows), None)


def errata_of(rows):
    """{kind: errata} of one list, without kinds that have none."""
    found = {kind: row["errata"] for kind in KINDS if (row := row_of(rows, kind)) and row["errata"] != "-"}
    for kind, errata in found.items():
        if not re.fullmatch(r"[A-Z]+\d+(,[A-Z]+\d+)*", errata):
            raise Wrong(f"{row_of(rows, kind)['at']}: errata is {errata!r}, not errata as in MTL012,MTL013")
    return found


def entry(rows, kind):
    """What one list says of a kind: (select, counters, counters with PEBS, precise, taken alone), or None."""
    fixed = KINDS[kind][1]
    row = row_of(rows, kind)
    if not row:
        return None
    counters, pebs = mask(row, "counters"), recorded(row)
    if "INST_RETIRED.ANY_P" in rows and counters == mask(rows["INST_RETIRED.ANY_P"], "counters"):
        counters = EVERY_GP # there are more where a core's threads do not share them
    for name in fixed:
        if name in rows:
            pebs |= recorded(rows[name]) & ~EVERY_GP
            break
    return (select(row), counters or pebs, pebs, bool(pebs) and row["precise"] != "0", row["taken_alone"] == "1")


def by_event(rows, key):
    found = {}
    for row in rows:
        events = found.setdefault(row[key], {})
        if row["event"] in events:
            raise Wrong(f"{row['at']}: {row['event']} of {row[key]} is there twice")
        events[row["event"]] = row
    return found


def table(folder):
    """{generation: {kind: entry}}, and the rows of cores.tsv, with "errata" of the core: {kind: errata}."""
    cores = read(folder / "cores.tsv", CORES)
    intel = by_event(read(folder / "intel.tsv", INTEL), "core")
    added = by_event(read(folder / "added.tsv", ADDED), "generation")
    known = {row["core"] for row in cores}
    for core, rows in intel.items():
        if core not in known:
            raise Wrong(f"{next(iter(rows.values()))['at']}: core {core} is not in cores.tsv")
    generations = {}
    for row in cores:
        kinds = generations.setdefault(row["generation"], {})
        row["errata"] = errata_of(intel.get(row["core"], {}))
        for kind in KINDS:
            new = entry(intel.get(row["core"], {}), kind)
            if new and kinds.setdefault(kind, new) != new:
                raise Wrong(f"{row['at']}: {row['core']} says other things of {kind} than the lists of "
                            f"{row['generation']} before it: {new}, {kinds[kind]}")
    for generation, rows in added.items():
        if generation not in generations:
            raise Wrong(f"{next(iter(rows.values()))['at']}: generation {generation} is not in cores.tsv")
        for kind in KINDS:
            new = entry(rows, kind)
            if new and kind in generations[generation]:
                raise Wrong(f"{next(iter(rows.values()))['at']}: Intel's lists of {generation} have {kind} themselves")
            if new:
                generations[generation][kind] = new
    return generations, cores


def models(row):
    for model in row["models"].split():
        family, _, number = model.partition("-")
        if not family.isdigit() or not number:
            raise Wrong(f"{row['at']}: model {model!r} is not FAMILY-MODEL")
        yield int(family), int(number, 16)


def errata_name(row):
    return "errata_" + re.sub(r"\W", "_", row["core"])


def write(folder):
    generations, cores = table(folder)
    print("/* Made by tools/events.py out of ds/events. */\n#include \"ds/events/events.h\"\n")
    for row in cores:
        if row["errata"]:
            print(f"static const char *const {errata_name(row)}[DS_EVENT_KINDS] = {{")
            for kind, errata in row["errata"].items():
                print(f"    [DS_EVENT_{kind}] = \"{errata}\",")
            print("};\n")
    print("const struct ds_core_data ds_core_data[] = {")
    for row in cores:
        errata = errata_name(row) if row["errata"] else "NULL"
        for family, model in models(row):
            print(f"    {{{family}, {model:#x}, {number_of(row, 'core_type', 0xFF):#x}, "
                  f"{number_of(row, 'native_model', 0xFFFFFF):#x}, DS_GENERATION_{row['generation']}, {errata}}},")
    print("    {0},\n};\n")
    print("const struct ds_event_data ds_event_data[][DS_EVENT_KINDS] = {")
    for generation, kinds in {"OTHER": {}, **generations}.items():
        print(f"    [DS_GENERATION_{generation}] = {{")
        for kind in KINDS:
            listed = kinds.get(kind)
            code, fixed = ARCHITECTURAL.get(kind, (None, None))
            if not listed and code is None:
                continue
            record, counters, pebs, precise, alone = listed or (0, 0, 0, False, False)
            if code is not None: # counted as on any processor
                counters = EVERY_GP | (0 if fixed is None else 1 << (32 + fixed))
            else:
                code = record
            print(f"        [DS_EVENT_{kind}] = {{{code:#x}, {record:#x}, {counters:#x}, {pebs:#x}, "
                  f"{str(precise).lower()}, {str(alone).lower()}}},")
        print("    },")
    print("};")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: tools/events.py FOLDER")
    try:
        write(Path(sys.argv[1]))
    except (OSError, UnicodeError, Wrong) as wrong:
        sys.exit(f"tools/events.py: {wrong}")
