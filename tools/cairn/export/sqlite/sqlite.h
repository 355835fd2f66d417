/* SPDX-License-Identifier: MIT */
/* Parts of the SQLite writer (writer.c): a database of which rows are written, and nothing is read. The tables are
 * those of schema.sql. */
#pragma once

#include <sqlite3.h>

#include "tools/cairn/export/writer.h"

/* Which file is ours: the application ID and the version of the tables, both in the file's header. */
#define CAIRN_SQL_ID     0x43616972 /* "Cair" */
#define CAIRN_SQL_FORMAT 1

enum cairn_sql_table {
    CAIRN_SQL_LOG,
    CAIRN_SQL_KEYS,
    CAIRN_SQL_THREADS,
    CAIRN_SQL_SWITCHES,
    CAIRN_SQL_LAST_RUNS,
    CAIRN_SQL_RECORDS,
    CAIRN_SQL_FIELDS,
    CAIRN_SQL_DRAINS,
    CAIRN_SQL_BRANCHES,
    CAIRN_SQL_LOCKS,
    CAIRN_SQL_EVENTS,
    CAIRN_SQL_EVENT_FIELDS,
    CAIRN_SQL_SAMPLES,
    CAIRN_SQL_SAMPLE_FRAMES,
    CAIRN_SQL_LOSS,
    CAIRN_SQL_TABLES,
};

struct cairn_sql { /* zeroed: not open */
    sqlite3 *db;
    sqlite3_stmt *insert[CAIRN_SQL_TABLES], *row;
    int column; /* of `row`, that comes next */
    int error;  /* the first; negative errno. Nothing is written from then on */
};

/* Opens the empty file, and makes the tables in it. */
void cairn_sql_open(struct cairn_sql *s, const char *path);
/* Makes indexes and views, and closes the file. 0 or negative errno: the first error of all. */
int cairn_sql_close(struct cairn_sql *s);
/* Closes it as it is. */
void cairn_sql_free(struct cairn_sql *s);

/* A row begins. Its columns come in the order of the table. */
void cairn_sql_row(struct cairn_sql *s, enum cairn_sql_table table);
void cairn_sql_null(struct cairn_sql *s);
void cairn_sql_number(struct cairn_sql *s, int64_t value);
/* The signed number of the same bits. */
static inline void cairn_sql_bits(struct cairn_sql *s, uint64_t value)
{
    cairn_sql_number(s, (int64_t)value);
}
/* NULL where it is not known. */
void cairn_sql_maybe(struct cairn_sql *s, bool known, int64_t value);
/* Text that stays until the row is written, and is UTF-8; NULL. */
void cairn_sql_word(struct cairn_sql *s, const char *word);
/* Any text, copied. Bytes that are no UTF-8 become U+FFFD. */
void cairn_sql_text(struct cairn_sql *s, struct cairn_slice text);
/* The row is complete. */
void cairn_sql_write(struct cairn_sql *s);
