# SPDX-License-Identifier: MIT
# Golden dumps: `make golden` writes them again; `make golden-check` fails where they would change.
GOLDEN := small full nods circular lost panic
GOLDEN_MAKER := $(B)/make_golden

GOLDEN_O := $(patsubst %.c,$(B)/host/%.o,tests/golden/make_golden.c tests/golden/script.c $(sort $(wildcard trace/*.c)))
$(GOLDEN_MAKER): $(GOLDEN_O)
	$(CC) -o $@ $^
golden: $(GOLDEN_MAKER)
	@set -e; for k in $(GOLDEN); do $< $$k > tests/golden/$$k.log; done
golden-check: $(GOLDEN_MAKER)
	@set -e; for k in $(GOLDEN); do \
	    $< $$k | cmp - tests/golden/$$k.log || { echo "FAIL: golden: $$k.log differs: format change, or 'make golden'"; exit 1; }; \
	done; echo "PASS: golden: $(words $(GOLDEN)) dumps byte for byte"
.PHONY: golden golden-check
