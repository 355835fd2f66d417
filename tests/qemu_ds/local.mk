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
# They make a machine otherwise than its firmware has it, and start the report: test_report.py.
define starter
$(B)/$(1).objects: OBJECTS = $(B)/loader/tests/qemu_ds/$(2).o
$(B)/$(1).efi: $(B)/loader/tests/qemu_ds/$(2).o $(B)/$(1).objects $(B)/loader.signer
	$$(call say,LINK)
	$$(call link_efi,$(B)/$(1),$$<)
$(B)/loader/tests/qemu_ds/$(2).o: | gnu-efi
test-products: $(B)/$(1).efi
endef
$(eval $(call starter,apic-page,apic_page))
$(eval $(call starter,counters-on,counters_on))
