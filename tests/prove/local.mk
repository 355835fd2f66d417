# SPDX-License-Identifier: MIT
# Proofs with Frama-C. PROVE='crc32c': options of prove.py.
PROVE :=
prove:
	@python3 tests/prove/prove.py --build $(B) $(PROVE)
# Only `make test-all`: Frama-C is 900 MB of packages.
SUITES += $(if $(filter test-all,$(MAKECMDGOALS)),prove)
deps-prove:
	@tools/deps.sh prove
.PHONY: prove deps-prove
