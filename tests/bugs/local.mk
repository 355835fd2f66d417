# SPDX-License-Identifier: MIT
# Bugs of Linux's PMU driver under qemu-ds: `make test-bugs`, with kernels that have them.
deps-bugs:
	@tools/qemu-ds/deps.sh --to $(B) --more tests/bugs/bugs.txt
test-bugs: all | deps-bugs
	@$(PYTHON) tests/run.py --build $(B) --all --only bugs
# As with deps-ds: where that fails, so do the tests.
test-all: bugs-if-possible
bugs-if-possible:
	-@$(MAKE) --no-print-directory deps-bugs
.PHONY: deps-bugs test-bugs bugs-if-possible
