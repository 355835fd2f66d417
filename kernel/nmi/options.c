/* SPDX-License-Identifier: MIT */
/* The option nmi=. */
#include "kernel/nmi/nmi.h"

#include "kernel/options/row.h"

uint32_t knmi_panics;

static const struct kopt_option nmi = {.name = "nmi",
                                       .standard = "ignore",
                                       .text = "at an NMI for which port 61H shows no cause: ignore (count it and "
                                               "continue, up to 10000 times) or panic (for a board with an NMI button)",
                                       .field = &knmi_panics,
                                       .kind = WORD,
                                       .words = "ignore|panic"};
ROWS_ADD(kopt, nmi);
