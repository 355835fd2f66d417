/* SPDX-License-Identifier: MIT */
/* The format that the writer of truth= and its reader, `cairn check --plugin`, share (docs/reference/qemu-ds.md, "The
 * truth"). */
#pragma once

#define QDS_TRUTH_VERSION 2

/* as a `total` line has them */
enum qds_truth_total {
    QDS_TRUTH_RECORDS,
    QDS_TRUTH_DROPPED,
    QDS_TRUTH_BRANCHES,
    QDS_TRUTH_BRANCHES_DROPPED,
    QDS_TRUTH_PMIS,
    QDS_TRUTH_WRMSRS,
    QDS_TRUTH_LOST,
    QDS_TRUTH_TOTALS,
};

static const char *const qds_truth_totals[QDS_TRUTH_TOTALS] = {
    [QDS_TRUTH_RECORDS] = "records",   [QDS_TRUTH_DROPPED] = "dropped",
    [QDS_TRUTH_BRANCHES] = "branches", [QDS_TRUTH_BRANCHES_DROPPED] = "branches-dropped",
    [QDS_TRUTH_PMIS] = "pmis",         [QDS_TRUTH_WRMSRS] = "wrmsrs",
    [QDS_TRUTH_LOST] = "lost",
};
