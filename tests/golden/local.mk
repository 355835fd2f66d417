# SPDX-License-Identifier: MIT
# Golden dumps: `make golden` writes them again; `make golden-check` fails where they would change.
# grab.log is not among them: cairn grab wrote it, in a guest with Linux 6.12 under qemu-ds preset=icelake.
GOLDEN := small line8 full nods circular lost panic bts ring hw life sessions locks live told arch fragments \
          packed-full packed-live

$(B)/make_golden: $(patsubst %.c,$(B)/host/%.o,$(wildcard tests/golden/make/*.c) $(MODEL_ROWS_C)) $(B)/host/libshared.a
	$(call say,LINK)
	$(Q)$(CC) -o $@ $^
golden: $(B)/make_golden
	@set -e; for k in $(GOLDEN); do $< $$k > tests/golden/$$k.log; done
golden-check: $(B)/make_golden
	@status=0; for k in $(GOLDEN); do \
	    if $< $$k | cmp -s - tests/golden/$$k.log; then echo "PASS: golden: $$k.log is what its generator writes"; \
	    else echo "FAIL: golden: $$k.log is not what its generator writes"; status=1; fi; \
	done; exit $$status
test-products: $(B)/make_golden
.PHONY: golden golden-check
