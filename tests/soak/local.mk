# SPDX-License-Identifier: MIT
# Guests under load with the plugin, for a time: SOAK_MINUTES=20
SOAK_MINUTES := 20
soak: all
	@CAIRN_BUILD=$(B) $(PYTHON) tests/soak/soak.py --minutes $(SOAK_MINUTES)
# The monitor under hostile input: MONITOR_MINUTES=10
MONITOR_MINUTES := 10
soak-monitor: all
	@CAIRN_BUILD=$(B) $(PYTHON) tests/soak/monitor.py --minutes $(MONITOR_MINUTES) ds=soft
# Random switches through encoder, buffers, frames and reader: CODEC_SWITCHES=1000000000
CODEC_SWITCHES := 1000000000
$(B)/soak/codec: $(addprefix $(B)/host/,tests/soak/codec.o tests/golden/make/streams.o libcairn.a libshared.a)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) -o $@ $^ $(CAIRN_LIBS)
soak-codec: $(B)/soak/codec
	@$< $(CODEC_SWITCHES)
soak-codec-short: $(B)/soak/codec
	@$< 20000000
test-products: $(B)/soak/codec
SUITES += soak-codec-short
# Switches of real boots, compared with the truth: BOOT_SWITCHES=10000000
BOOT_SWITCHES := 10000000
soak-boot: all
	@CAIRN_BUILD=$(B) $(PYTHON) tests/soak/boot.py --switches $(BOOT_SWITCHES)
.PHONY: soak soak-monitor soak-codec soak-codec-short soak-boot
