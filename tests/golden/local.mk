# SPDX-License-Identifier: MIT
# Golden dumps: `make golden` writes them again; test_golden.py fails where they would change.
GOLDEN   := small full nods circular lost panic
GOLDEN_O := $(patsubst %.c,$(B)/host/%.o,tests/golden/make_golden.c tests/golden/script.c $(sort $(wildcard trace/*.c)))

$(B)/make_golden: $(GOLDEN_O)
	$(CC) -o $@ $^
test-products: $(B)/make_golden
golden: $(B)/make_golden
	@set -e; for k in $(GOLDEN); do $< $$k > tests/golden/$$k.log; done
.PHONY: golden
