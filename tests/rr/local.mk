# SPDX-License-Identifier: MIT
# Small programs for rr: as programs are, with the C library of the system.
$(B)/rr-programs: tests/rr/programs.c
	$(call say,LINK)
	$(Q)$(CC) -std=gnu17 -Wall -Wextra -Werror -g -O1 -o $@ $< -pthread -lm
test-rr test-ci test-all $(if $(T),test): $(B)/rr-programs
test-rr: all
	@$(PYTHON) tests/run.py --build $(B) --all --only rr
.PHONY: test-rr
