/* SPDX-License-Identifier: MIT */
/* How all output shows times, sizes, threads and addresses. The functions write into a buffer of the caller. */
#pragma once

#include <stdio.h>

#include "tools/cairn/base/wrap.h"
#include "tools/cairn/log/date.h"

#define CAIRN_SHOWN 128u /* room enough for any of these */

/* By the clock that was asked for (clock.h), to 100 ns: seconds since the session began, "0.0123456", or the session
 * clock where its beginning is not known; since the boot; or the time of the day, "02:10:59.0123456". */
const char *cairn_show_time(char out[CAIRN_SHOWN], const struct cairn_log *log, int64_t time);
/* The seconds alone, put.h; not by the wall clock. At most CAIRN_SECONDS_SHOWN bytes, no 0 behind them. */
#define CAIRN_SECONDS_SHOWN 24u
char *cairn_put_seconds(char *at, const struct cairn_log *log, int64_t time);
/* The same as it stands in a sentence: "0.0123456 s", "2026-11-21T02:10:59.0123456Z". */
const char *cairn_show_moment(char out[CAIRN_SHOWN], const struct cairn_log *log, int64_t time);
/* The session clock when these seconds are 0; with the time of the day, those that filters take. */
int64_t cairn_show_origin(const struct cairn_log *log);
/* Day, time of the day and zone, in the zone that was asked for. Only where the log knows them. */
void cairn_show_date(char day[CAIRN_DATE_TEXT], char clock[CAIRN_DATE_TEXT], char zone[CAIRN_DATE_TEXT],
                     const struct cairn_log *log, int64_t time);
/* A span of clock units: "12.3 us". */
const char *cairn_show_span(char out[CAIRN_SHOWN], const struct cairn_log *log, uint64_t units);
/* "name:tid", cut in the name to at most `width`; "idle". */
const char *cairn_show_thread(char out[CAIRN_SHOWN], const struct cairn_log *log, uint32_t tid, int width);
/* "name+0x1c", at most `width` where that can be. */
const char *cairn_show_offset(char out[CAIRN_SHOWN], struct cairn_slice name, uint64_t offset, int width);
/* "function+1c" or the bare address, at most `width` where that can be. */
const char *cairn_show_address(char out[CAIRN_SHOWN], const struct cairn_log *log, uint64_t address, int width);
/* The same of an address of process `pid` at `time`, where it is no kernel's: by the images that an ETL file tells of,
 * or the files that a Linux had mapped ("libc.so.6+0x44352", the place in the file).
 * CAIRN_NO_TID: of nobody knows which. */
const char *cairn_show_address_in(char out[CAIRN_SHOWN], const struct cairn_log *log, uint32_t pid, int64_t time,
                                  uint64_t address, int width);
/* The process of a thread at `time`, as an ETL file or cairn grab tells; CAIRN_NO_TID: nothing does. */
uint32_t cairn_process_at(const struct cairn_log *log, uint32_t tid, int64_t time);
/* The name of the file that a Linux had mapped there, where nothing names the function; NULL: that is not known. */
const char *cairn_show_file(char out[CAIRN_SHOWN], const struct cairn_log *log, uint32_t pid, uint64_t address);
/* The same of a lock: its variable's name alone where it begins there. */
const char *cairn_show_lock(char out[CAIRN_SHOWN], const struct cairn_log *log, uint64_t address, int width);
/* 0 of nothing. */
static inline double cairn_percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}
/* The kind of a hole as one word, for formats that other programs read: "bytes", "overwritten". */
const char *cairn_hole_name(uint8_t kind);
/* What is missing at a hole, in words: "1200 bytes of buffer 3 missing (frame 7)". */
const char *cairn_show_hole(char out[CAIRN_SHOWN], const struct cairn_log *log, const struct cairn_hole *hole);
/* Which bytes or buffers that are: "1200 bytes of buffer 3", "buffers 3..5". */
const char *cairn_show_hole_part(char out[CAIRN_SHOWN], const struct cairn_hole *hole);
struct cairn_etl_flaw;
/* What is wrong with an ETL file: "buffer 3 is cut short ...". */
const char *cairn_show_flaw(char out[CAIRN_SHOWN], const struct cairn_etl_flaw *flaw);
/* "frames 3..5", "frame 3". */
const char *cairn_show_run(char out[CAIRN_SHOWN], const struct cairn_run *run);
/* Hook ID and name of an event, and whom it tells of: "0503H thread (rundown) 88 of 4, System"; the header of one
 * without a hook ID. All that is known of it: cairn_event_text. */
#define CAIRN_SHOWN_EVENT 512u
const char *cairn_show_event(char out[CAIRN_SHOWN_EVENT], const struct cairn_log *log, const struct cairn_event *event);
/* "12"; "unknown", and what is known of it. Never 0 where it is unknown. */
const char *cairn_show_lost(char out[CAIRN_SHOWN], struct cairn_lost lost);
/* The processor's name, by CPUID 80000002H to 4 of that CPU, without blanks around it. NULL: it is not in the log. */
#define CAIRN_SHOWN_BRAND 49u
const char *cairn_show_brand(char out[CAIRN_SHOWN_BRAND], const struct cairn_log *log, uint32_t cpu);
/* Where PEBS is architectural: whether there is a Debug Store, which is BTS' alone; and what that leaves to it, in some
 * words. */
bool cairn_show_has_store(const struct cairn_log *log);
const char *cairn_show_store(const struct cairn_log *log);
/* The backend, and why, and if PEBS is architectural, begun with `head`, further lines with `prefix`; nothing where the
 * log does not say. */
void cairn_print_backend(const struct cairn_log *log, const char *head, const char *prefix);
/* A line begun with `prefix` for each row of CPUs whose records are not like CPU 0's: a machine of several kinds of
 * cores. */
void cairn_print_other_kinds(const struct cairn_log *log, const char *prefix);
/* A line for each PEBS event that Intel's lists do not call precise, or want alone on the core. */
void cairn_print_event_marks(const struct cairn_log *log, const char *prefix);
/* That the guest panicked or says that it failed: a trace of such a run may be sound. False: it did not. As a line that
 * begins with `prefix`. */
#define CAIRN_SHOWN_END 1024u
bool cairn_show_bad_end(char out[CAIRN_SHOWN_END], const struct cairn_log *log);
void cairn_print_bad_end(const struct cairn_log *log, const char *prefix);
