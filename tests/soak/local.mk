# SPDX-License-Identifier: MIT
# Guests under load with the plugin, for a time: SOAK_MINUTES=20
SOAK_MINUTES := 20
soak: all
	@CAIRN_BUILD=$(B) $(PYTHON) tests/soak/soak.py --minutes $(SOAK_MINUTES)
.PHONY: soak
