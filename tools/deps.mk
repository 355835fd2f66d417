# SPDX-License-Identifier: MIT
# `make deps GOALS...`: first deps, alone, then a new make for the rest, which looks for tools and headers anew. Then
# ASKED_DEPS is set: there is nothing else to do in this make.
ifneq ($(filter deps,$(MAKECMDGOALS)),)
ASKED_DEPS := yes
AFTER_DEPS := $(filter-out deps,$(MAKECMDGOALS))
# Goals that need nothing of what the tests need, and of these the ones that need no kernel either.
TOOL_GOALS := tools manual install uninstall qemu-ds install-qemu-ds uninstall-qemu-ds deb
BUILD_GOALS := all kernel loader docs run gdb image report stick deb-labs install-labs uninstall-labs $(TOOL_GOALS)
deps:
	@tools/deps.sh $(and $(AFTER_DEPS),$(if $(filter-out $(BUILD_GOALS),$(AFTER_DEPS)),,\
	    $(if $(filter-out $(TOOL_GOALS),$(AFTER_DEPS)),build,tools)))
ifneq ($(AFTER_DEPS),)
goals: deps
	@+$(MAKE) --no-print-directory $(AFTER_DEPS)
$(AFTER_DEPS): goals ;
endif
.PHONY: deps goals $(AFTER_DEPS)
endif
