-- SPDX-License-Identifier: MIT
-- Indexes and views of `cairn export --to sqlite`. A thread that the log does not name is in the table, too.
INSERT OR IGNORE INTO threads (tid) SELECT DISTINCT old_tid FROM switches;
INSERT OR IGNORE INTO threads (tid) SELECT DISTINCT new_tid FROM switches WHERE new_tid IS NOT NULL;
INSERT OR IGNORE INTO threads (tid) SELECT tid FROM last_runs WHERE tid IS NOT NULL;
INSERT OR IGNORE INTO threads (tid) SELECT DISTINCT tid FROM locks;
INSERT OR IGNORE INTO threads (tid) SELECT DISTINCT tid FROM drains WHERE tid IS NOT NULL;
INSERT OR IGNORE INTO threads (tid) SELECT DISTINCT tid FROM samples;
INSERT OR IGNORE INTO threads (tid) SELECT DISTINCT tid FROM records WHERE tid IS NOT NULL;
INSERT OR IGNORE INTO threads (tid) SELECT DISTINCT tid FROM events WHERE tid IS NOT NULL;

CREATE INDEX switches_ns ON switches (ns);
CREATE INDEX records_tid ON records (tid, ns);
CREATE INDEX records_cpu ON records (cpu, ns);
CREATE INDEX records_function ON records (function);
CREATE INDEX fields_name ON fields (name, value);
CREATE INDEX drains_cpu ON drains (cpu, buffer, epoch);
CREATE INDEX branches_drain ON branches (drain, number);
CREATE INDEX branches_from ON branches (from_function);
CREATE INDEX branches_to ON branches (to_function);
CREATE INDEX locks_lock ON locks (lock, ns);
CREATE INDEX events_hook ON events (hook, ns);
CREATE INDEX events_cpu ON events (cpu, ns);
CREATE INDEX samples_tid ON samples (tid);
CREATE INDEX samples_place ON samples (place);
CREATE INDEX sample_frames_place ON sample_frames (place);

-- As in `cairn stat`: idle is thread 0.
CREATE VIEW time_on_cpu AS
SELECT t.tid, t.name, coalesce(r.ns, 0) AS ns, coalesce(r.switched_out, 0) AS switched_out,
       (SELECT count(*) FROM records WHERE records.tid = t.tid) AS records
FROM threads t
LEFT JOIN (SELECT tid, sum(ran_ns) AS ns, sum(switched_out) AS switched_out
           FROM (SELECT old_tid AS tid, sum(ran_ns) AS ran_ns, count(*) AS switched_out FROM switches GROUP BY old_tid
                 UNION ALL SELECT tid, ran_ns, 0 FROM last_runs WHERE tid IS NOT NULL)
           GROUP BY tid) r ON r.tid = t.tid
ORDER BY ns DESC, t.tid;

-- As in `cairn stat`: unknown_ns is what is left of the session.
CREATE VIEW time_by_cpu AS
SELECT cpu, sum(switches) AS switches, sum(busy) AS busy_ns, sum(idle) AS idle_ns,
       (SELECT value FROM log WHERE name = 'ends_ns') - (SELECT value FROM log WHERE name = 'begins_ns')
           - sum(busy) - sum(idle) AS unknown_ns
FROM (SELECT cpu, count(*) AS switches, coalesce(sum(ran_ns) FILTER (WHERE old_tid <> 0), 0) AS busy,
             coalesce(sum(ran_ns) FILTER (WHERE old_tid = 0), 0) AS idle FROM switches GROUP BY cpu
      UNION ALL SELECT cpu, 0, CASE WHEN tid <> 0 THEN ran_ns ELSE 0 END,
             CASE WHEN tid = 0 THEN ran_ns ELSE 0 END FROM last_runs WHERE tid IS NOT NULL)
GROUP BY cpu;

CREATE VIEW records_by_function AS
SELECT function, count(*) AS records FROM records GROUP BY function ORDER BY records DESC, function;

-- As in `cairn profile`.
CREATE VIEW profile AS
SELECT count(*) AS records, tid, (SELECT name FROM threads WHERE threads.tid = records.tid) AS thread, no_thread,
       function
FROM records GROUP BY tid, no_thread, function ORDER BY records DESC, tid, function;

-- Branches with what their drain tells of all of them.
CREATE VIEW branch_list AS
SELECT b.id, d.ns, d.cpu, d.epoch, d.tid, b.number, b.from_ip, b.from_function, b.to_ip, b.to_function, b.flags
FROM branches b JOIN drains d ON d.id = b.drain;

-- What time it was at each item; empty where the log does not tell. utc has nanoseconds, the log's clock may have fewer.
CREATE VIEW wall_clock AS
SELECT id, unix_ns, strftime('%Y-%m-%dT%H:%M:%S', unix_ns / 1000000000, 'unixepoch')
                        || printf('.%09dZ', unix_ns % 1000000000) AS utc
FROM (SELECT id, ns + began AS unix_ns
      FROM (SELECT id, ns FROM switches UNION ALL SELECT id, ns FROM records UNION ALL SELECT id, ns FROM drains
            UNION ALL SELECT id, ns FROM locks UNION ALL SELECT id, ns FROM events),
           (SELECT value AS began FROM log WHERE name = 'began_unix_ns'));
