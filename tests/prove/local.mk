# SPDX-License-Identifier: MIT
# Proofs with Frama-C. PROVE=page: and then their page anew.
PROVE := all
prove:
	@python3 tests/prove/prove.py --build $(B) $(if $(filter all,$(PROVE)),,--$(PROVE))
prove-short:
	@python3 tests/prove/prove.py --build $(B) --short
# `make test` is to need no Frama-C.
SUITES += $(if $(filter test-all,$(MAKECMDGOALS)),prove,$(if $(filter test-ci,$(MAKECMDGOALS)),prove-short))
deps-prove:
	@tools/deps.sh prove
.PHONY: prove prove-short deps-prove
