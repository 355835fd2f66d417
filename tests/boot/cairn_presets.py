# SPDX-License-Identifier: MIT
"""Every processor the model can be, and what it counts in a test."""

ICELAKE = ("INST_RETIRED.ANY:499,cycles:601,branches:151,BR_INST_RETIRED.CONDITIONAL:103,"
           "BR_INST_RETIRED.NEAR_TAKEN:101,BR_INST_RETIRED.NEAR_CALL:31,BR_INST_RETIRED.NEAR_RETURN:37,"
           "BR_INST_RETIRED.FAR_BRANCH:3")
DARKMONT = ICELAKE.removesuffix(",BR_INST_RETIRED.FAR_BRANCH:3")  # which it does not count
ARCH = 15  # architectural PEBS: the Debug Store, and so the form of its area, is for BTS alone
SANDYBRIDGE = ("INST_RETIRED.ANY:499,BR_INST_RETIRED.CONDITIONAL:103,BR_INST_RETIRED.NEAR_TAKEN:101,"
               "BR_INST_RETIRED.NEAR_RETURN:37,cycles:5003:plain")  # to Skylake
PRESETS = [  # name, record format, form of the DS area, bytes of a record, events
    ("penryn", 0, "60H", 144, "INST_RETIRED.ANY:199,BR_INST_RETIRED.NEAR_TAKEN:5003:plain,cycles:9001:plain"),
    ("nehalem", 1, "60H", 176, "INST_RETIRED.ANY:499,branches:151,BR_INST_RETIRED.CONDITIONAL:103,"
                               "BR_INST_RETIRED.NEAR_CALL:37"),
    ("sandybridge", 1, "60H", 176, SANDYBRIDGE),
    ("haswell", 2, "60H", 192, SANDYBRIDGE),
    ("skylake", 3, "60H", 200, SANDYBRIDGE),
    ("icelake", 4, "A0H", 624, ICELAKE),
    ("sapphirerapids", 4, "A0H", 176, ICELAKE),
    ("arrowlake", 5, "1C0H", 944, ICELAKE),
    ("lunarlake", 6, "1C0H", 432, ICELAKE),
    ("pantherlake", ARCH, "60H", 624, ICELAKE),
    ("clearwaterforest", ARCH, "60H", 1312, DARKMONT),
]
GROUPS = {"icelake": "gpr,lbr:8,xmm", "arrowlake": "lbr,gpr", "lunarlake": "gpr,mem,lbr:4,counters",
          "pantherlake": "gpr,mem,lbr:8,counters", "clearwaterforest": "gpr,xmm,lbr"}
