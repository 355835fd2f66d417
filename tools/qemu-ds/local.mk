# SPDX-License-Identifier: MIT
# qemu-ds, the Debug Store for QEMU. `make deps-ds` brings the QEMU it needs, into build/qemu11.
deps-ds:
	@tools/qemu-ds/deps.sh --to $(B)/qemu11
.PHONY: deps-ds
