# SPDX-License-Identifier: MIT
# Of what libFuzzer prints with -print_coverage=1: how many runs, how fast, and how much of the code they reach. That
# counts the functions outside tests/ that are reached at all: all fuzzers are linked with all of the reader.
/^Done / { runs = $2; seconds = $5 }
$1 == "COVERED_FUNC:" && $NF !~ /^(\.\/)?tests\// {
    split($5, edges, "/")
    functions++
    reached += edges[1]
    all += edges[2]
}
END {
    if (!runs || !seconds) {
        print "too short for figures"
        exit
    }
    printf "%d runs in %d s, %d a second; %d of the %d edges of %d functions\n",
        runs, seconds, runs / seconds, reached, all, functions
}
