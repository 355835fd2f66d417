# SPDX-License-Identifier: MIT
# libcairn-pebs, which build/cairn is linked with, and others: an archive that a kernel can link, too (no C library, no
# red zone, no vector registers, no thread-local canary), and a shared library of the same objects. Only what pebs.h
# declares is visible.
PEBS_C     := $(call c_of,tools/pebs)
PEBS_SO    := libcairn-pebs.so.1
FLAGS_pebs := -std=c11 -O2 -g -ffile-prefix-map=$(CURDIR)=. -I. $(WARN) -Wpedantic $(EXTRA_CFLAGS) -ffreestanding \
              -fPIC -fvisibility=hidden -mgeneral-regs-only -mno-red-zone -fno-stack-protector \
              -fno-tree-loop-distribute-patterns
$(eval $(call product,pebs))
$(B)/libcairn-pebs.a: $(PEBS_C:%.c=$(B)/pebs/%.o)
	@rm -f $@; $(AR) rcs $@ $^
$(B)/$(PEBS_SO): $(PEBS_C:%.c=$(B)/pebs/%.o)
	$(call say,LINK)
	$(Q)$(CC) -shared -nostdlib -Wl,-soname,$(PEBS_SO) -Wl,-z,defs -o $@ $^
pebs: $(B)/libcairn-pebs.a $(B)/$(PEBS_SO)
tools: pebs
.PHONY: pebs

# LIBDIR is what Debian's packages set. `make install` installs both parts.
LIBDIR := $(PREFIX)/lib
INSTALLED_PEBS     := $(DESTDIR)$(LIBDIR)/$(PEBS_SO)
INSTALLED_PEBS_DEV := $(addprefix $(DESTDIR),$(LIBDIR)/libcairn-pebs.a $(PREFIX)/include/cairn/pebs.h \
                        $(LIBDIR)/pkgconfig/cairn-pebs.pc)
install-pebs: pebs
	@install -D -m 644 $(B)/$(PEBS_SO) $(INSTALLED_PEBS); echo $(INSTALLED_PEBS)
# The .pc file is made where it goes: two `make install` of one build folder may run at once.
install-pebs-dev: pebs
	@set -e; set -- $(INSTALLED_PEBS_DEV); \
	install -D -m 644 $(B)/libcairn-pebs.a $$1; install -D -m 644 tools/pebs/pebs.h $$2; \
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' tools/pebs/cairn-pebs.pc.in | \
	    install -D -m 644 /dev/stdin $$3; printf '%s\n' $$*
	@ln -sf $(PEBS_SO) $(DESTDIR)$(LIBDIR)/libcairn-pebs.so; echo $(DESTDIR)$(LIBDIR)/libcairn-pebs.so
install: install-pebs install-pebs-dev
uninstall: uninstall-pebs
uninstall-pebs:
	rm -f $(INSTALLED_PEBS) $(INSTALLED_PEBS_DEV) $(DESTDIR)$(LIBDIR)/libcairn-pebs.so
	-rmdir $(DESTDIR)$(PREFIX)/include/cairn
.PHONY: install-pebs install-pebs-dev uninstall-pebs
