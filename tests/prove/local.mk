# SPDX-License-Identifier: MIT
# Proofs with Frama-C. PROVE=fast: those that take about a minute together; PROVE=page: all, and then their page anew.
PROVE := all
prove:
	@python3 tests/prove/prove.py --build $(B) $(if $(filter all,$(PROVE)),,--$(PROVE))
deps-prove:
	@tools/deps.sh prove
.PHONY: prove deps-prove
