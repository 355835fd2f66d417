# SPDX-License-Identifier: MIT
# axe-core, which checks that a page is accessible, comes from npm, for tests/site/test_axe.py alone. The lock file pins
# it with its checksum. Where there is no npm, or no network, that test is skipped.
AXE := $(B)/axe/node_modules/axe-core/axe.min.js
deps-axe: $(AXE)
$(AXE): tests/site/package.json tests/site/package-lock.json
	@command -v npm >/dev/null || { echo "make deps-axe: npm is not there: install it (Debian: npm)" >&2; exit 1; }
	@mkdir -p $(B)/axe && cp $^ $(B)/axe
	@npm ci --prefix $(B)/axe --ignore-scripts --no-audit --no-fund --silent
	@touch $@
test-ci test-all: axe-if-possible
axe-if-possible:
	-@$(MAKE) --no-print-directory deps-axe
.PHONY: deps-axe axe-if-possible
