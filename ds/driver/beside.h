/* SPDX-License-Identifier: MIT */
/* What a CPU records beside PEBS, in the same DS area and with the same interrupt: BTS (ds/bts), if it is linked. The
 * driver calls these functions while `started` is true. Counting is paused unless a comment says otherwise. */
#pragma once

#include "ds/ds.h"

struct ds_beside {
    bool started;
    uint32_t epoch; /* its own, from 0 */
    /* Turn it off and on again with the counters, by its own control bits. */
    void (*hold)(struct ds_cpu *ds);
    void (*go_on)(struct ds_cpu *ds);
    /* Ends one of its epochs, at the time `tsc`. */
    void (*drain)(struct ds_cpu *ds, enum cairn_ds_reason reason, uint64_t tsc);
    /* The PMI handler's part: drains where its threshold was reached, and returns whether it was. */
    bool (*pmi)(struct ds_cpu *ds);
    /* Drains (reason STOP), and restores its registers. */
    void (*stop)(struct ds_cpu *ds);
    /* As ds_drain_panic. */
    void (*panic)(struct ds_cpu *ds);
};
