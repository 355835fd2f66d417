/* SPDX-License-Identifier: MIT */
/* The database: tables, rows, indexes. All is one transaction without a journal: a file that is not completed is
 * removed (partial.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/export/json.h"
#include "tools/cairn/export/sqlite/sqlite.h"

/* The assembler's: C17 has nothing that takes in a file. The Makefile knows that this depends on them. */
#define FILE_AS(symbol, path)                                                                                          \
    __asm__(".pushsection .rodata\n" #symbol ":\n"                                                                     \
            ".incbin \"tools/cairn/export/sqlite/" path "\"\n.byte 0\n.popsection\n");                                 \
    extern const char symbol[] __attribute__((visibility("hidden")));

FILE_AS(cairn_sql_schema, "schema.sql")
FILE_AS(cairn_sql_views, "views.sql")

#define STRING(x) #x
#define VALUE(x)  STRING(x)
/* Sorted runs of an index that is made lie in the cache as far as there is room. */
static const char settings[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536;"
    "PRAGMA application_id = " VALUE(CAIRN_SQL_ID) "; PRAGMA user_version = " VALUE(CAIRN_SQL_FORMAT) "; BEGIN;";

static const struct {
    const char *name;
    unsigned columns;
} tables[CAIRN_SQL_TABLES] = {
    [CAIRN_SQL_LOG] = {"log", 2},
    [CAIRN_SQL_KEYS] = {"keys", 2},
    [CAIRN_SQL_THREADS] = {"threads", 3},
    [CAIRN_SQL_SWITCHES] = {"switches", 16},
    [CAIRN_SQL_LAST_RUNS] = {"last_runs", 3},
    [CAIRN_SQL_RECORDS] = {"records", 14},
    [CAIRN_SQL_FIELDS] = {"fields", 4},
    [CAIRN_SQL_DRAINS] = {"drains", 11},
    [CAIRN_SQL_BRANCHES] = {"branches", 8},
    [CAIRN_SQL_LOCKS] = {"locks", 18},
    [CAIRN_SQL_EVENTS] = {"events", 11},
    [CAIRN_SQL_EVENT_FIELDS] = {"event_fields", 4},
    [CAIRN_SQL_SAMPLES] = {"samples", 5},
    [CAIRN_SQL_SAMPLE_FRAMES] = {"sample_frames", 4},
    [CAIRN_SQL_LOSS] = {"loss", 9},
};

/* Takes a result of SQLite's for the first error, where it is one. */
static void check(struct cairn_sql *s, int result)
{
    if (s->error || result == SQLITE_OK || result == SQLITE_DONE || result == SQLITE_ROW)
        return;
    if (result == SQLITE_NOMEM)
        cairn_out_of_memory();
    /* Where a call of the system failed: sqlite3_system_errno tells only of some of these. */
    const int e = (result & 0xFF) == SQLITE_IOERR || (result & 0xFF) == SQLITE_CANTOPEN ? errno : 0;
    s->error = e ? -e : result == SQLITE_FULL ? -ENOSPC : -EIO;
}

static void run(struct cairn_sql *s, const char *sql)
{
    if (!s->error)
        check(s, sqlite3_exec(s->db, sql, NULL, NULL, NULL));
}

static void prepare(struct cairn_sql *s, enum cairn_sql_table table)
{
    char sql[128];
    /* Names that are the same once what is no UTF-8 is replaced, and idle threads, which are all number 0. */
    const char *twice = table == CAIRN_SQL_KEYS || table == CAIRN_SQL_THREADS ? " OR IGNORE" : "";
    int used = snprintf(sql, sizeof(sql), "INSERT%s INTO %s VALUES (?", twice, tables[table].name);
    for (unsigned i = 1; i < tables[table].columns; i++)
        used += snprintf(sql + used, sizeof(sql) - (size_t)used, ",?");
    snprintf(sql + used, sizeof(sql) - (size_t)used, ")");
    if (!s->error)
        check(s, sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->insert[table], NULL));
}

void cairn_sql_open(struct cairn_sql *s, const char *path)
{
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD); /* of those that cairn has, one calls SQLite */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    check(s, sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
    run(s, settings);
    run(s, cairn_sql_schema);
    for (unsigned i = 0; i < CAIRN_SQL_TABLES; i++)
        prepare(s, i);
}

int cairn_sql_close(struct cairn_sql *s)
{
    run(s, cairn_sql_views);
    run(s, "COMMIT;");
    cairn_sql_free(s);
    return s->error;
}

void cairn_sql_free(struct cairn_sql *s)
{
    for (unsigned i = 0; i < CAIRN_SQL_TABLES; i++)
        sqlite3_finalize(s->insert[i]);
    memset(s->insert, 0, sizeof(s->insert));
    check(s, sqlite3_close(s->db));
    s->db = NULL;
}

void cairn_sql_row(struct cairn_sql *s, enum cairn_sql_table table)
{
    s->row = s->insert[table];
    s->column = 0;
}

void cairn_sql_null(struct cairn_sql *s)
{
    if (!s->error)
        check(s, sqlite3_bind_null(s->row, ++s->column));
}

void cairn_sql_number(struct cairn_sql *s, int64_t value)
{
    if (!s->error)
        check(s, sqlite3_bind_int64(s->row, ++s->column, value));
}

void cairn_sql_maybe(struct cairn_sql *s, bool known, int64_t value)
{
    if (known)
        cairn_sql_number(s, value);
    else
        cairn_sql_null(s);
}

void cairn_sql_word(struct cairn_sql *s, const char *word)
{
    if (!s->error)
        check(s, sqlite3_bind_text(s->row, ++s->column, word, -1, SQLITE_STATIC));
}

void cairn_sql_text(struct cairn_sql *s, struct cairn_slice text)
{
    const uint8_t *p = (const uint8_t *)text.at, *end = p + text.size;
    char *copy = cairn_alloc(3 * (size_t)text.size + 1), *to = copy; /* U+FFFD: three bytes for one */
    while (p < end) {
        const unsigned n = *p ? cairn_utf8(p, (size_t)(end - p)) : 0;
        memcpy(to, n ? (const char *)p : "\xEF\xBF\xBD", n ? n : 3);
        to += n ? n : 3;
        p += n ? n : 1;
    }
    if (!s->error)
        check(s, sqlite3_bind_text64(s->row, ++s->column, copy, (sqlite3_uint64)(to - copy), SQLITE_TRANSIENT,
                                     SQLITE_UTF8));
    free(copy);
}

void cairn_sql_write(struct cairn_sql *s)
{
    if (s->error)
        return;
    check(s, sqlite3_step(s->row));
    check(s, sqlite3_reset(s->row));
}
