# SPDX-License-Identifier: MIT
# tests/fuzz/fuzz_NAME.c is a fuzzer, tests/fuzz/corpus/NAME its saved inputs. fuzz-replay gives it those, built
# with the compiler in use and the sanitizers; fuzz runs it (libFuzzer needs clang) for its share of FUZZ_SECONDS.
FUZZ_SECONDS := 60
FUZZ_CC      := clang
FUZZERS      := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_SHARED  := tests/fuzz/read_all.c $(filter-out tools/cairn/main.c,$(CAIRN_C)) \
                $(sort $(wildcard trace/*.c) ds/events.c)
FUZZ_FLAGS   := $(filter-out -Werror,$(HCFLAGS)) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
# beside its own: other inputs that are good to begin with
FUZZ_SEEDS_cairn_log := tests/golden/*.log
FUZZ_SEEDS_cairn_etl := tests/golden/*.etl

$(B)/fuzz/replay-%: $(B)/san/tests/fuzz/fuzz_%.o $(B)/san/tests/fuzz/replay.o $(FUZZ_SHARED:%.c=$(B)/san/%.o)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(SAN) -o $@ $^ $(CAIRN_LIBS)
$(B)/fuzz/fuzz-%: tests/fuzz/fuzz_%.c $(FUZZ_SHARED) \
                 $(wildcard tests/fuzz/*.h tools/cairn/*.h trace/*.h ds/layout.h) $(B)/flags
	@mkdir -p $(@D)
	$(call say,FUZZER)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -o $@ $(filter %.c,$^) $(CAIRN_LIBS)
fuzz-replay: $(FUZZERS:%=$(B)/fuzz/replay-%)
	@set -e; $(foreach f,$(FUZZERS),\
	    if $(B)/fuzz/replay-$(f) $(FUZZ_SEEDS_$(f)) $$(find tests/fuzz/corpus/$(f) -type f); \
	    then echo "PASS: fuzz: $(f): $$(find tests/fuzz/corpus/$(f) -type f | wc -l) saved inputs"; \
	    else echo "FAIL: fuzz: $(f): a saved input, see above"; exit 1; fi;)
ifneq ($(shell command -v $(FUZZ_CC)),)
fuzz: fuzz-replay $(FUZZERS:%=$(B)/fuzz/fuzz-%)
	@set -e; seconds=$$(( $(FUZZ_SECONDS) / $(words $(FUZZERS)) )); $(foreach f,$(FUZZERS),\
	    mkdir -p $(B)/fuzz/$(f); cp $(FUZZ_SEEDS_$(f)) $(B)/fuzz/$(f)/ 2>/dev/null || true; \
	    if $(B)/fuzz/fuzz-$(f) -max_total_time=$$seconds -timeout=10 -rss_limit_mb=2048 -artifact_prefix=$(B)/fuzz/ \
	        $(B)/fuzz/$(f) tests/fuzz/corpus/$(f) > $(B)/fuzz/$(f).log 2>&1; \
	    then echo "PASS: fuzz: $(f): $$(sed -n 's/^Done \([0-9]*\) runs.*/\1 runs/p' $(B)/fuzz/$(f).log), $$seconds s"; \
	    else tail -n 30 $(B)/fuzz/$(f).log; echo "FAIL: fuzz: $(f): the input is in $(B)/fuzz"; exit 1; fi;)
else
fuzz: fuzz-replay
	@echo "SKIP: fuzz: $(FUZZ_CC) is not installed: only saved inputs were tried"
endif
.PHONY: fuzz-replay
