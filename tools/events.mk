# SPDX-License-Identifier: MIT
# What each kind of core counts, made into C from the lists of events.
EVENT_C := ds/events/data.c
$(B)/gen/$(EVENT_C): tools/events.py $(wildcard ds/events/*.tsv)
	@mkdir -p $(@D)
	$(call say,EVENTS)
	$(Q)tools/events.py ds/events > $@
