# SPDX-License-Identifier: MIT
# Guests under load with the plugin, for a time: SOAK_MINUTES=20
SOAK_MINUTES := 20
soak: all
	@CAIRN_BUILD=$(B) $(PYTHON) tests/soak/soak.py --minutes $(SOAK_MINUTES)
# The monitor under hostile input: MONITOR_MINUTES=10
MONITOR_MINUTES := 10
soak-monitor: all
	@CAIRN_BUILD=$(B) $(PYTHON) tests/soak/monitor.py --minutes $(MONITOR_MINUTES) ds=soft
.PHONY: soak soak-monitor
