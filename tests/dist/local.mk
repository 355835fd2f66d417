# SPDX-License-Identifier: MIT
# A release, used as those use it who get it (docs/how-to/release.md). test-dist needs root and debootstrap; DIST= is
# the folder of a release that is there.
DIST :=
test-dist:
	@$(PYTHON) tests/dist/dist.py $(DIST:%=--dist %)
dist-short: all
	@$(PYTHON) tests/dist/dist.py --short --build $(B)
SUITES += $(if $(filter test,$(MAKECMDGOALS)),,$(if $(filter test-all,$(MAKECMDGOALS)),test-dist,dist-short))
.PHONY: test-dist dist-short
