# SPDX-License-Identifier: MIT
# Suites are found by their names: tests/unit/ROOM/test_*.c are cmocka programs (ASan, UBSan), one each, with what
# they take of tests/unit/support; test_*.py in tests/SUITE and in folders of it are pytest's. tests/*/local.mk and
# tools/*/local.mk may add rules, prerequisites of `test-products` (what tests need built), what bench, bench-gate, fuzz
# and fuzz-replay do, and SUITES: targets that print `PASS|FAIL|SKIP: name: text` lines.

# The first Python that has pytest: a package manager gives it to its own one.
PYTHON = $(or $(shell for p in python3 /usr/bin/python3; do \
                          $$p -c 'import pytest, xdist' 2>&- && echo $$p && break; done),\
           $(error no python3 with pytest and its xdist: run 'make deps'))

$(B)/san/tests/unit/%.o: SAN += -Og# half the time of -O1, and what they test is compiled as ever
UNIT := $(patsubst tests/%.c,$(B)/%,$(sort $(wildcard tests/unit/*/test_*.c)))
$(B)/san/libsupport.a: $(patsubst %.c,$(B)/san/%.o,$(wildcard tests/unit/support/*.c tests/unit/fake/*.c))
	@rm -f $@; $(AR) rcs $@ $^
# The rest of kernel and loader, on the fake processor of tests/unit/fake. Of it a test is linked with what it calls and
# does not define itself. Two files define names of the C library.
KERNEL_UNIT_C := $(filter-out $(SHARED_C) kernel/lib/format.c kernel/lib/string.c,\
                     $(KERNEL_C) $(call c_of,boot $(patsubst %/,%,$(wildcard boot/*/))))
$(B)/libkernel.objects: OBJECTS = $(KERNEL_UNIT_C)
$(B)/san/libkernel.a: $(KERNEL_UNIT_C:%.c=$(B)/san/%.o) $(B)/libkernel.objects
	@rm -f $@; $(AR) rcs $@ $(filter %.o,$^)
$(B)/unit/%: $(B)/san/tests/unit/%.o $(addprefix $(B)/san/,libsupport.a libkernel.a libshared.a)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(SAN) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lcmocka -lm $(UNIT_LIBS)
unit: $(UNIT)
	@set -e; for t in $(UNIT); do echo "== $$t"; $$t; done
test-products: all $(UNIT)
SUITES := lint golden-check bench-gate fuzz-replay
# One test: T= a file, a name, or a suite. Of a unit test nothing else is built.
T :=
UNIT_T := $(and $(T),$(filter %/$(basename $(notdir $(T))),$(UNIT)))
test: $(or $(UNIT_T),test-products)
	@$(PYTHON) tests/run.py --build $(B) $(if $(T),--test '$(T)') $(SUITES)
test-ci test-all: test-products
	-@$(MAKE) -k --no-print-directory deps-ds $(if $(filter test-all,$@),deps-prove) # else the tests that need it fail
	@$(PYTHON) tests/run.py --build $(B) --with-qemu-11 \
	    $(if $(filter test-all,$@),--all fuzz $(filter-out fuzz-replay,$(SUITES)) $(if $(LKVS),test-lkvs),\
      $(SUITES)) # fuzz replays, too
test-ds: all
	@$(PYTHON) tests/run.py --build $(B) --only qemu_ds
test-linux: all
	@$(PYTHON) tests/run.py --build $(B) --only linux
bench bench-gate fuzz fuzz-replay: all
lint:
	@tools/lint.sh
wings: all
	@tools/wings.sh $(B)
.PHONY: unit test-products test test-ds test-linux test-ci test-all bench bench-gate fuzz lint loc wings
