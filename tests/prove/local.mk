# SPDX-License-Identifier: MIT
# Proofs with Frama-C. PROVE='crc32c': options of prove.py.
PROVE :=
prove:
	@python3 tests/prove/prove.py --build $(B) $(PROVE)
prove-short:
	@python3 tests/prove/prove.py --build $(B) --short
# `make test` is to need no Frama-C.
SUITES += $(if $(filter test-all,$(MAKECMDGOALS)),prove,$(if $(filter test-ci,$(MAKECMDGOALS)),prove-short))
deps-prove:
	@tools/deps.sh prove
.PHONY: prove prove-short deps-prove
