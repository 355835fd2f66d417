# SPDX-License-Identifier: MIT
# Faults of the machine, and their outcomes: docs/reference/faults.md.
$(B)/faults/driver: $(addprefix $(B)/san/,tests/faults/driver.o tests/faults/handed.o $(DS_ROWS_C:.c=.o)) \
                    $(addprefix $(B)/san/,libsupport.a libkernel.a libshared.a)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(SAN) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lcmocka -lm
# FAULTS='--row ACPI --variant 287': options of faults.py.
FAULTS :=
faults: all $(B)/faults/driver
	@CAIRN_BUILD=$(B) $(PYTHON) tests/faults/faults.py $(FAULTS)
faults-short: all $(B)/faults/driver
	@CAIRN_BUILD=$(B) $(PYTHON) tests/faults/faults.py --short
test-products: $(B)/faults/driver
SUITES += $(if $(filter test,$(MAKECMDGOALS)),,faults-short) # `make test` is to be quick
.PHONY: faults faults-short
