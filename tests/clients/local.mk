# SPDX-License-Identifier: MIT
# Programs for the Linux guest that use an Intel PMU, beside perf and rr: `make test-clients`.
$(B)/clients-libraries: tests/clients/libraries.c
	$(call say,LINK)
	$(Q)$(CC) -std=gnu17 -Wall -Wextra -Werror -g -O1 -o $@ $<
deps-clients:
	@tools/qemu-ds/deps.sh --to $(B) --more tests/clients/clients.txt
test-clients: all $(B)/clients-libraries | deps-clients
	@$(PYTHON) tests/run.py --build $(B) --all --only clients
# As with deps-ds: where that fails, so do the tests.
test-all: clients-if-possible $(B)/clients-libraries
clients-if-possible:
	-@$(MAKE) --no-print-directory deps-clients
.PHONY: deps-clients test-clients clients-if-possible
