# SPDX-License-Identifier: MIT
# Intel's Linux Kernel Validation Suite in the Linux guest: `make test-lkvs LKVS=DIR`, of a checkout that is built.
LKVS :=# such a checkout
deps-lkvs: deps-ds
	@tools/qemu-ds/deps.sh --to $(B) --more tests/lkvs/lkvs.txt
test-lkvs: $(if $(LKVS),all deps-lkvs)
	@CAIRN_BUILD=$(B) tests/lkvs/lkvs.py --lkvs '$(LKVS)' $(LKVS_ARGS)
test-all: $(if $(LKVS),deps-lkvs)
.PHONY: deps-lkvs test-lkvs
