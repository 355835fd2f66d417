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
# Keeps the local APIC from whoever is not the firmware, and starts the report: test_report.py.
$(B)/apic-page.objects: OBJECTS = $(B)/loader/tests/qemu_ds/apic_page.o
$(B)/apic-page.efi: $(B)/loader/tests/qemu_ds/apic_page.o $(B)/apic-page.objects $(B)/loader.signer
	$(call say,LINK)
	$(call link_efi,$(B)/apic-page,$<)
$(B)/loader/tests/qemu_ds/apic_page.o: | gnu-efi
test-products: $(B)/apic-page.efi
