/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/sqlite.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/export.h"

#define ITEMS                                                                                                          \
    "SELECT id FROM switches UNION ALL SELECT id FROM records UNION ALL SELECT id FROM drains UNION ALL "              \
    "SELECT id FROM branches UNION ALL SELECT id FROM locks UNION ALL SELECT id FROM events UNION ALL "                \
    "SELECT id FROM loss"

static void expect(bool so)
{
    if (!so)
        abort();
}

/* The first column of all rows, which must be `wanted`; NULL: any. */
static void query(sqlite3 *db, const char *sql, const char *wanted)
{
    sqlite3_stmt *s;
    int step;
    expect(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK);
    while ((step = sqlite3_step(s)) == SQLITE_ROW)
        expect(!wanted || strcmp((const char *)sqlite3_column_text(s, 0), wanted) == 0);
    expect(step == SQLITE_DONE);
    sqlite3_finalize(s);
}

static void read_database(sqlite3 *db)
{
    static const char *const views[] = {"SELECT * FROM time_on_cpu", "SELECT * FROM time_by_cpu",
                                        "SELECT * FROM records_by_function", "SELECT * FROM profile",
                                        "SELECT * FROM branch_list"};
    query(db, "PRAGMA integrity_check", "ok");
    query(db, "SELECT 'row' FROM pragma_foreign_key_check", "none");
    query(db, "SELECT count(*) = count(DISTINCT id) AND count(*) = coalesce(max(id), 0) FROM (" ITEMS ")", "1");
    for (unsigned i = 0; i < sizeof(views) / sizeof(views[0]); i++)
        query(db, views[i], NULL);
}

void fuzz_sqlite(const struct cairn_log *log)
{
    char folder[FUZZ_FOLDER], path[FUZZ_FOLDER + 4];
    sqlite3 *db;
    if (!fuzz_export(log, &cairn_writer_sqlite, "db", folder))
        return;
    snprintf(path, sizeof(path), "%s/db", folder);
    expect(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    read_database(db);
    expect(sqlite3_close(db) == SQLITE_OK && !unlink(path) && !rmdir(folder));
}
