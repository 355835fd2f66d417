# SPDX-License-Identifier: MIT
$(filter $(B)/unit/cairn/%,$(UNIT)): $(B)/san/tests/cairn/writer.o $(B)/san/libcairn.a
$(filter $(B)/unit/cairn/%,$(UNIT)): UNIT_LIBS := -lexpat
$(B)/unit/cairn/test_perfetto: UNIT_LIBS := -lprotobuf-c -lexpat
$(B)/unit/cairn/test_export $(B)/unit/cairn/test_threads: UNIT_LIBS := $(CAIRN_LIBS)

# Damage: plain for the many, sanitized for the few.
$(B)/cairn-damage: $(B)/host/tests/cairn/damage.o $(B)/host/libcairn.a $(B)/host/libshared.a
	$(call say,LINK)
	$(Q)$(CC) -o $@ $^ -lexpat
$(B)/cairn-damage-san: $(B)/san/tests/cairn/damage.o $(B)/san/libcairn.a $(B)/san/libshared.a
	$(call say,LINK)
	$(Q)$(CC) $(SAN) -o $@ $^ -lexpat
# The picture in the README. Its bytes depend on the browser and its fonts: no test compares them.
screenshot: $(B)/cairn
	@mkdir -p docs/images
	$< export --to html samples/plain.log -o $(B)/view.html
	$(PYTHON) tests/cairn/screenshot.py $(B)/view.html docs/images/view.png
.PHONY: screenshot
test-products: $(B)/cairn-damage $(B)/cairn-damage-san $(B)/san/cairn $(B)/make_golden
