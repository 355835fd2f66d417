/* SPDX-License-Identifier: MIT */
/* Which processors use the same event codes: a generation of cores (ds/events/cores.tsv). */
#pragma once

enum ds_generation {
    DS_GENERATION_OTHER, /* the architectural events only */
    DS_GENERATION_CORE2,
    DS_GENERATION_NEHALEM, /* and Westmere */
    DS_GENERATION_SANDYBRIDGE,
    DS_GENERATION_IVYBRIDGE,
    DS_GENERATION_HASWELL, /* and Broadwell */
    DS_GENERATION_SKYLAKE, /* and its successors up to Ice Lake */
    DS_GENERATION_ICELAKE, /* to Rocket Lake */
    DS_GENERATION_GOLDENCOVE,
    DS_GENERATION_REDWOODCOVE,
    DS_GENERATION_LIONCOVE,
    DS_GENERATION_COUGARCOVE,
    DS_GENERATION_COYOTECOVE, /* the last of the performance cores */
    DS_GENERATION_BONNELL,
    DS_GENERATION_SILVERMONT,
    DS_GENERATION_KNIGHTS, /* Xeon Phi */
    DS_GENERATION_GOLDMONT,
    DS_GENERATION_GOLDMONTPLUS,
    DS_GENERATION_TREMONT,
    DS_GENERATION_GRACEMONT,
    DS_GENERATION_CRESTMONT,
    DS_GENERATION_SKYMONT,
    DS_GENERATION_DARKMONT,
    DS_GENERATION_ARCTICWOLF,
    DS_GENERATIONS
};
