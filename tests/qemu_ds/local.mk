# SPDX-License-Identifier: MIT
# The stick of docs/how-to/laptop.md on firmware and machines of many kinds, as a table.
deps-firmware:
	@tools/qemu-ds/deps.sh --to $(B) --more tests/qemu_ds/firmware.txt
test-firmware: all stick | deps-firmware
	@CAIRN_BUILD=$(B) $(PYTHON) tests/qemu_ds/firmware.py
test-products: stick
# As with deps-ds: where that fails, so do the tests.
test-all: firmware-if-possible
firmware-if-possible:
	-@$(MAKE) --no-print-directory deps-firmware
.PHONY: deps-firmware test-firmware firmware-if-possible
# Of test_report.py; tests/boot/local.mk.
$(eval $(call starter,apic-page,qemu_ds/apic_page))
$(eval $(call starter,counters-on,qemu_ds/counters_on))
