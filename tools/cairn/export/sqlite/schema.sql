-- SPDX-License-Identifier: MIT
-- The tables of `cairn export --to sqlite` (docs/how-to/sqlite.md). sql.c makes them, writer.c fills them; indexes and views
-- are in views.sql, which is run when all rows are there.
--
-- id     counts the items of all tables in the order of the trace, which is that of `cairn dump`
-- ns     nanoseconds since the session began
-- NULL   not known, or not told
-- 64-bit addresses, register words and masks are the signed number of the same bits; printf('0x%x', ip) shows them

-- What the file is made from. emulated_ds and emulated_machine are 1 where a model or an emulator made it.
CREATE TABLE log (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- The log's own keys: machine, kernel, Debug Store, options (docs/reference/format.md).
CREATE TABLE keys (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;

CREATE TABLE threads (tid INTEGER PRIMARY KEY, name TEXT, base_priority INTEGER);

-- ran_ns: how long old_tid ran until then; NULL if something is missing since the CPU's switch before.
-- state_or_reason: the field itself, where the build's states cannot be told from its wait reasons.
-- new_priority, wait_mode, ideal_cpu: of 0524H of Windows; the last two of the thread that leaves.
CREATE TABLE switches (
    id INTEGER PRIMARY KEY, ns INTEGER NOT NULL, cpu INTEGER NOT NULL,
    old_tid INTEGER NOT NULL REFERENCES threads, new_tid INTEGER REFERENCES threads, ran_ns INTEGER,
    form TEXT NOT NULL, state TEXT, reason TEXT, state_or_reason INTEGER, priority INTEGER,
    new_waited_ticks INTEGER, or_more INTEGER, new_priority INTEGER, wait_mode TEXT, ideal_cpu INTEGER);
-- Who ran from the CPU's last switch to the end.
CREATE TABLE last_runs (cpu INTEGER PRIMARY KEY, tid INTEGER REFERENCES threads, ran_ns INTEGER NOT NULL);

-- no_thread: why tid is NULL. timed 0: ns is that of the drain. ip_is_after 1: ip is where execution continued.
CREATE TABLE records (
    id INTEGER PRIMARY KEY, ns INTEGER NOT NULL, cpu INTEGER NOT NULL, timed INTEGER NOT NULL,
    ip INTEGER NOT NULL, function TEXT, ip_is_after INTEGER NOT NULL,
    tid INTEGER REFERENCES threads, no_thread TEXT, epoch INTEGER NOT NULL, format INTEGER NOT NULL,
    address INTEGER NOT NULL, size INTEGER NOT NULL, tsc INTEGER);
-- Every word of a record; at: its offset.
CREATE TABLE fields (
    record INTEGER NOT NULL REFERENCES records, at INTEGER NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL,
    PRIMARY KEY (record, at)) WITHOUT ROWID;

-- Of a PEBS or a BTS buffer. A drain ends its epoch; reason 'start': the buffer was turned on.
-- complete 1: all of its records are in the log. tid: of BTS, whose branches they are.
CREATE TABLE drains (
    id INTEGER PRIMARY KEY, buffer TEXT NOT NULL, ns INTEGER NOT NULL, cpu INTEGER NOT NULL, epoch INTEGER NOT NULL,
    reason TEXT NOT NULL, records INTEGER NOT NULL, complete INTEGER NOT NULL, lost INTEGER,
    tid INTEGER REFERENCES threads, circular INTEGER);
-- BTS records, which have no time of their own; number counts them in their drain.
CREATE TABLE branches (
    id INTEGER PRIMARY KEY, drain INTEGER NOT NULL REFERENCES drains, number INTEGER NOT NULL,
    from_ip INTEGER NOT NULL, from_function TEXT, to_ip INTEGER NOT NULL, to_function TEXT, flags INTEGER NOT NULL);

-- Releases of spin locks; ns: of the release, as locks.acquired_ns is of the acquisition.
CREATE TABLE locks (
    id INTEGER PRIMARY KEY, ns INTEGER NOT NULL, cpu INTEGER NOT NULL, lock INTEGER NOT NULL, name TEXT,
    caller INTEGER NOT NULL, function TEXT, tid INTEGER NOT NULL REFERENCES threads, mode TEXT NOT NULL,
    acquired_ns INTEGER, released_ns INTEGER, wait_cycles INTEGER NOT NULL, spins INTEGER NOT NULL,
    interrupts INTEGER NOT NULL, irql INTEGER NOT NULL, depth INTEGER NOT NULL, in_dpc INTEGER NOT NULL,
    in_isr INTEGER NOT NULL);

-- All other events. tid: who ran. A provider's event has, in place of the hook, provider and number.
CREATE TABLE events (
    id INTEGER PRIMARY KEY, ns INTEGER NOT NULL, cpu INTEGER NOT NULL, tid INTEGER REFERENCES threads, hook TEXT,
    name TEXT, text TEXT NOT NULL, provider TEXT, provider_guid TEXT, number INTEGER, version INTEGER);
CREATE TABLE event_fields (
    event INTEGER NOT NULL REFERENCES events, number INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (event, number)) WITHOUT ROWID;

-- Samples of a profile that Windows wrote: events of the hook 0F2EH, or where there are none 0F2FH.
CREATE TABLE samples (
    event INTEGER PRIMARY KEY REFERENCES events, tid INTEGER NOT NULL REFERENCES threads, pid INTEGER,
    ip INTEGER NOT NULL, place TEXT NOT NULL);
-- Their call stacks. depth: 0 is the sample's own address, 1 is who called, and so on.
CREATE TABLE sample_frames (
    sample INTEGER NOT NULL REFERENCES samples, depth INTEGER NOT NULL, ip INTEGER NOT NULL, place TEXT NOT NULL,
    PRIMARY KEY (sample, depth)) WITHOUT ROWID;

-- Where something is missing on a CPU: after the item before.
CREATE TABLE loss (
    id INTEGER PRIMARY KEY, cpu INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, first_buffer INTEGER,
    buffers INTEGER, bytes INTEGER, since_ns INTEGER, until_ns INTEGER);
-- It grows with the rows: sorting them at the end takes longer.
CREATE INDEX switches_old ON switches (old_tid, ns, ran_ns);
