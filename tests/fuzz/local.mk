# SPDX-License-Identifier: MIT
# tests/fuzz/fuzz_NAME.c is a fuzzer, tests/fuzz/corpus/NAME its saved inputs. fuzz-replay gives it those, built
# with the compiler in use and the sanitizers; fuzz runs it (libFuzzer needs clang) for its share of FUZZ_SECONDS.
FUZZ_SECONDS := 60
FUZZ_CC      := clang
FUZZERS      := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_SHARED  := $(addprefix tests/fuzz/,log.c read_all.c ctf.c formats.c filters.c kernel_file.c) \
                $(filter-out tools/cairn/main.c,$(CAIRN_C)) \
                $(sort $(wildcard trace/*.c) ds/events.c ds/insn.c ds/probe/rows.c ds/model/policy.c) \
                $(addprefix boot/,elf.c memory.c paging.c save_check.c) \
                $(addprefix kernel/,freemem.c pagemap.c) \
                $(addprefix arch/,acpi_parse.c acpi_serial.c pci_uart.c reset.c uart.c)
FUZZ_SAN     := address,undefined -fno-sanitize-recover=undefined
# beside its own: other inputs that are good to begin with
FUZZ_SEEDS_cairn_log := tests/golden/*.log
FUZZ_SEEDS_cairn_etl := tests/golden/*.etl
FUZZ_SEEDS_cairn_follow := tests/golden/*.log

$(B)/fuzz/replay-%: $(B)/san/tests/fuzz/fuzz_%.o $(B)/san/tests/fuzz/replay.o $(FUZZ_SHARED:%.c=$(B)/san/%.o)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(SAN) -o $@ $^ $(CAIRN_LIBS)
$(B)/fuzz/o/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(FUZZ_CC) $(filter-out -Werror,$(HCFLAGS)) -fsanitize=fuzzer-no-link,$(FUZZ_SAN) $(DEPFLAGS) -c $< -o $@
$(B)/san/tests/fuzz/formats.o $(B)/fuzz/o/tests/fuzz/formats.o: | $(PF_C:.c=.h)
$(B)/fuzz/fuzz-%: $(B)/fuzz/o/tests/fuzz/fuzz_%.o $(FUZZ_SHARED:%.c=$(B)/fuzz/o/%.o)
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
	    $(B)/fuzz/$* tests/fuzz/corpus/$* > $(B)/fuzz/$*.log 2>&1; \
	then echo "PASS: fuzz: $*: $$(sed -n 's/^Done \([0-9]*\) runs.*/\1 runs/p' $(B)/fuzz/$*.log), $(FUZZ_EACH) s"; \
	else tail -n 30 $(B)/fuzz/$*.log; echo "FAIL: fuzz: $*: the input is in $(B)/fuzz"; exit 1; fi
fuzz: $(FUZZERS:%=fuzzed-%)
else
fuzz: fuzz-replay
	@echo "SKIP: fuzz: $(FUZZ_CC) is not installed: only saved inputs were tried"
endif
.PHONY: fuzz-replay $(FUZZERS:%=replayed-%) $(FUZZERS:%=fuzzed-%)
# It draws with the kernel's own code, which no other fuzzer has.
$(B)/fuzz/replay-kernel_screen: $(B)/san/kernel/pixels.o $(B)/san/kernel/screen.o
$(B)/fuzz/fuzz-kernel_screen: $(B)/fuzz/o/kernel/pixels.o $(B)/fuzz/o/kernel/screen.o
