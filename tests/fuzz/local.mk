# SPDX-License-Identifier: MIT
# tests/fuzz/fuzz_NAME.c is a fuzzer, tests/fuzz/corpus/NAME its saved inputs. fuzz-replay gives it those, built
# with the compiler in use and the sanitizers; fuzz runs it (libFuzzer needs clang) for its share of FUZZ_SECONDS.
FUZZ_SECONDS := 60
FUZZ_CC      := clang
FUZZERS      := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_SUPPORT := $(filter-out tests/fuzz/replay.o,$(patsubst %.c,%.o,$(wildcard tests/fuzz/[!f]*.c tests/fuzz/f[!u]*.c)))
FUZZ_SUPPORT += tests/unit/support/monitor_machine.o $(MODEL_ROWS_C:.c=.o)
FUZZ_SAN     := address,undefined -fno-sanitize-recover=undefined
# beside its own: other inputs that are good to begin with
FUZZ_SEEDS_cairn_log := tests/golden/*.log
FUZZ_SEEDS_cairn_etl := tests/golden/*.etl samples/windows.etl

$(B)/fuzz/replay-%: $(B)/san/tests/fuzz/fuzz_%.o $(B)/san/tests/fuzz/replay.o $(FUZZ_SUPPORT:%=$(B)/san/%) \
                    $(B)/san/libcairn.a $(B)/san/libshared.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(SAN) -o $@ $^ $(CAIRN_LIBS)
CC_fuzz    = $(FUZZ_CC)
FLAGS_fuzz = $(filter-out -Werror,$(HCFLAGS)) -fsanitize=fuzzer-no-link,$(FUZZ_SAN)
$(eval $(call product,fuzz))
$(B)/fuzz/fuzz-%: $(B)/fuzz/tests/fuzz/fuzz_%.o $(FUZZ_SUPPORT:%=$(B)/fuzz/%) \
                  $(B)/fuzz/libcairn.a $(B)/fuzz/libshared.a
	$(call say,FUZZER)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer,$(FUZZ_SAN) -o $@ $^ $(CAIRN_LIBS)
$(FUZZERS:%=replayed-%): replayed-%: $(B)/fuzz/replay-%
	@if $(B)/fuzz/replay-$* $(FUZZ_SEEDS_$*) $$(find tests/fuzz/corpus/$* -type f); \
	then echo "PASS: fuzz: $*: $$(find tests/fuzz/corpus/$* -type f | wc -l) saved inputs"; \
	else echo "FAIL: fuzz: $*: a saved input, see above"; exit 1; fi
fuzz-replay: $(FUZZERS:%=replayed-%)
ifneq ($(shell command -v $(FUZZ_CC)),)
FUZZ_EACH := $(shell echo $$(( $(FUZZ_SECONDS) / $(words $(FUZZERS)) )))
$(FUZZERS:%=fuzzed-%): fuzzed-%: replayed-% $(B)/fuzz/fuzz-%
	@mkdir -p $(B)/fuzz/$*; cp $(FUZZ_SEEDS_$*) $(B)/fuzz/$*/ 2>/dev/null || true; \
	if $(B)/fuzz/fuzz-$* -max_total_time=$(FUZZ_EACH) -timeout=10 -rss_limit_mb=2048 -artifact_prefix=$(B)/fuzz/ \
	    -print_coverage=1 $(B)/fuzz/$* tests/fuzz/corpus/$* > $(B)/fuzz/$*.log 2>&1; \
	then echo "PASS: fuzz: $*: $$(awk -f tests/fuzz/figures.awk $(B)/fuzz/$*.log)"; \
	else tail -n 30 $(B)/fuzz/$*.log; echo "FAIL: fuzz: $*: the input is in $(B)/fuzz"; exit 1; fi
fuzz: $(FUZZERS:%=fuzzed-%)
else
fuzz: fuzz-replay
	@echo "SKIP: fuzz: $(FUZZ_CC) is not installed: only saved inputs were tried"
endif
.PHONY: fuzz-replay $(FUZZERS:%=replayed-%) $(FUZZERS:%=fuzzed-%)
