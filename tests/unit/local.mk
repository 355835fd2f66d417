# SPDX-License-Identifier: MIT
# The loader's own files among its own headers. Its wings are linked by name: the library has boot/hooks.c, too.
$(addprefix $(B)/san/,$(addprefix tests/unit/boot/test_,file.o firmware.o main.o save.o save_begin.o) \
    $(addprefix tests/unit/report/test_,menu.o out.o take.o) \
    $(addprefix tools/report/,apic.o menu.o screen.o take.o) \
    $(addprefix boot/,config/say.o file.o firmware.o hooks.o main.o monitor/script.o save/room.o save/save.o \
      screen/framebuffer.o)): \
    HCFLAGS += $(EFI_CFLAGS)
$(addprefix $(B)/unit/boot/test_,save save_begin): $(addprefix $(B)/san/boot/save/,machine.o save.o room.o)
$(B)/unit/report/test_menu: $(B)/san/tools/report/menu.o
$(B)/unit/report/test_out: $(addprefix $(B)/san/,boot/file.o boot/save/room.o tools/report/screen.o)
$(B)/unit/report/test_take: $(addprefix $(B)/san/tools/report/,apic.o take.o)
$(B)/unit/boot/test_firmware: $(B)/san/boot/screen/framebuffer.o
$(B)/unit/boot/test_paging: $(B)/san/boot/paging.o
$(B)/unit/arch/test_apic: $(B)/san/arch/x2apic/x2apic.o
$(addprefix $(B)/unit/arch/test_,serial lpss_uart): $(B)/san/arch/ports/uart_memory.o
$(B)/unit/arch/test_mce: $(B)/san/arch/mce/machine_check.o
$(addprefix $(B)/unit/,trace/test_frames kernel/test_live_dump): $(B)/san/tools/cairn/base/crc_base64.o
# So is who defines what kernel/console/serial_port.c has a default for.
$(B)/unit/kernel/test_serial: $(B)/san/kernel/ports/ports.o

# How much of ds/model its unit tests reach: `make coverage` prints each file's branches and fails below COVERAGE_LEAST
# per cent of all. gcov is that of the gcc in use.
COVERAGE_LEAST := 95
GCOV          := $(if $(findstring gcc,$(CC)),$(subst gcc,gcov,$(CC)))
COVERED_C     := $(call c_of,$(MODEL))
COVERAGE_UNIT := $(basename $(notdir $(wildcard tests/unit/model/test_model*.c tests/unit/model/test_property*.c)))
COVERAGE_O    := $(patsubst %.c,$(B)/coverage/%.o,$(COVERED_C) $(EVENT_C) $(wildcard tests/unit/model/property/*.c) \
                     $(addprefix tests/unit/support/,ds_bench.c ds_naive.c ds_naive_arch.c))

# Unoptimized, or the compiler's branches are counted instead of ours.
FLAGS_coverage = $(filter-out -O2,$(HCFLAGS)) -O0 --coverage
$(eval $(call product,coverage))
$(B)/coverage/test_%: $(B)/coverage/tests/unit/model/test_%.o $(COVERAGE_O)
	$(call say,LINK)
	$(Q)$(CC) --coverage -o $@ $^ -lcmocka
ifneq ($(shell command -v $(GCOV) 2>&-),)
coverage: $(COVERAGE_UNIT:%=$(B)/coverage/%)
	@find $(B)/coverage -name '*.gcda' -delete
	@set -e; for t in $^; do $$t > $$t.log 2>&1 || { cat $$t.log; exit 1; }; done
	@$(GCOV) -n -b $(COVERED_C:%.c=$(B)/coverage/%.o) | awk -v least=$(COVERAGE_LEAST) '\
	    /^File/ { split($$2, name, "\047") } \
	    /^Taken at least once/ && name[2] ~ /^ds\/(model|policy)\// { \
	        match($$0, /:[0-9.]+/); share = substr($$0, RSTART + 1, RLENGTH - 1); \
	        printf "%-24s %4d branches, %6.2f %% taken\n", name[2], $$NF, share; \
	        all += $$NF; taken += share * $$NF / 100 } \
	    END { ok = all && taken * 100 >= least * all; \
	        printf "%s: coverage: ds/model: %.1f %% of %d branches, at least %d %% wanted\n", \
	            ok ? "PASS" : "FAIL", all ? taken * 100 / all : 0, all, least; exit !ok }'
else
coverage:
	@echo 'SKIP: coverage: ds/model: no gcov for CC=$(CC)'
endif
SUITES += coverage
.PHONY: coverage

# What the tests of one subject share, and no others, is in a folder of its own, ROOM/SUBJECT for ROOM/test_SUBJECT*.c:
# there some play the processor layer, or the rest of the kernel.
support = $(patsubst %.c,$(B)/san/%.o,$(wildcard $1/*.c))
$(foreach subject,$(patsubst %/,%,$(wildcard tests/unit/*/*/)),\
    $(eval $(patsubst tests/%.c,$(B)/%,$(wildcard $(dir $(subject))test_$(notdir $(subject))*.c)): \
    $(call support,$(subject))))

# The model with all its processors.
$(patsubst tests/%.c,$(B)/%,$(wildcard tests/unit/model/test_*.c tests/unit/qemu_ds/test_*.c)): \
    $(MODEL_ROWS_C:%.c=$(B)/san/%.o)

$(B)/unit/ds/test_throttle: $(B)/san/ds/throttle/throttle.o

# The driver with all its parts; test_caps_without is of one without any, and of the model with its processors alone.
$(B)/unit/ds/test_caps_without: $(patsubst %.c,$(B)/san/%.o,$(wildcard ds/model/presets/*.c))
$(filter-out %/test_throttle %/test_caps_without,$(patsubst tests/%.c,$(B)/%,$(wildcard tests/unit/ds/test_*.c))) \
$(addprefix $(B)/unit/kernel/test_,area pmi probe self_test): \
    $(DS_ROWS_C:%.c=$(B)/san/%.o)

# Options of all parts of the kernel.
$(addprefix $(B)/unit/,kernel/test_options kernel/test_faster kernel/test_serial boot/test_config): \
    $(ROWS_C:%.c=$(B)/san/%.o) $(B)/rows.objects

$(B)/unit/kernel/test_options: $(B)/san/tools/options/describe.o

# What is linked in place of a weak function is named: a library has both, and gives the first.
$(patsubst tests/%.c,$(B)/%,$(wildcard tests/unit/ds/test_soft*.c)): \
    $(patsubst %.c,$(B)/san/%.o,$(call c_of,$(wildcard ds/soft/*)))
$(B)/unit/kernel/test_activity: $(addprefix $(B)/san/kernel/,truth/activity.o activity/hooks.o)
$(B)/unit/kernel/test_lock_trace: $(addprefix $(B)/san/kernel/,truth/locks.o locks/traced_spinlock.o)
$(patsubst tests/%.c,$(B)/%,$(wildcard tests/unit/kernel/test_sched*.c)): $(B)/san/kernel/locks/traced_spinlock.o
$(B)/unit/kernel/test_sessions_events: $(B)/san/kernel/locks/sessions.o
$(B)/unit/kernel/test_display: $(B)/san/kernel/screen/display.o
$(B)/unit/kernel/test_in_use: $(B)/san/kernel/in_use/leave.o $(DS_ROWS_C:%.c=$(B)/san/%.o)
$(B)/unit/kernel/test_tracepoint $(patsubst tests/%.c,$(B)/%,$(wildcard tests/unit/kernel/test_sessions*.c)): \
    $(B)/san/kernel/truth/switches.o
$(B)/unit/kernel/test_tracepoint: $(B)/san/kernel/cost/cost.o
