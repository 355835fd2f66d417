# SPDX-License-Identifier: MIT
# `make deps GOALS...`: first deps, alone, then a new make for the rest, which looks for tools and headers anew. Then
# ASKED_DEPS is set: there is nothing else to do in this make.
ifneq ($(filter deps,$(MAKECMDGOALS)),)
ASKED_DEPS := yes
AFTER_DEPS := $(filter-out deps,$(MAKECMDGOALS))
# Goals that need nothing of what the tests need.
BUILD_GOALS := all kernel loader tools manual install uninstall docs run gdb image
deps:
	@tools/deps.sh $(and $(AFTER_DEPS),$(if $(filter-out $(BUILD_GOALS),$(AFTER_DEPS)),,build))
ifneq ($(AFTER_DEPS),)
goals: deps
	@+$(MAKE) --no-print-directory $(AFTER_DEPS)
$(AFTER_DEPS): goals ;
endif
.PHONY: deps goals $(AFTER_DEPS)
endif
