# SPDX-License-Identifier: MIT
# make install: the host tool for all users of this machine or, with PREFIX=$HOME/.local, for one. make install-qemu-ds:
# the plugin for QEMU, its starter, qemu-ds-guest and qemu-ds-perf. make install-grab: cairn-grab. make deb: Debian
# packages of all (of cairn-grab if what it needs is here).
PREFIX  := /usr/local
DESTDIR :=
INSTALLED := $(addprefix $(DESTDIR)$(PREFIX)/,bin/cairn share/man/man1/cairn.1 \
               share/bash-completion/completions/cairn share/zsh/site-functions/_cairn \
               share/fish/vendor_completions.d/cairn.fish)
# The documents that the manual page names, and those that they name.
INSTALLED_DOCS := $(DESTDIR)$(PREFIX)/share/doc/cairn
DOCS := $(wildcard docs/*.md docs/*/*.md docs/silicon/reports/*.txt)
install: install-cairn
install-cairn: tools
	@set -e; set -- $(addprefix $(B)/,cairn cairn.1 cairn.bash _cairn cairn.fish); mode=755; \
	for to in $(INSTALLED); do install -D -m $$mode $$1 $$to; echo $$to; shift; mode=644; done
	@set -e; for page in $(DOCS); do install -D -m 644 $$page $(INSTALLED_DOCS)/$${page#docs/}; done; \
	echo $(INSTALLED_DOCS)
uninstall:
	rm -f $(INSTALLED) $(addprefix $(INSTALLED_DOCS)/,$(DOCS:docs/%=%))
	-rmdir $(addprefix $(INSTALLED_DOCS)/,learn how-to explain reference silicon/reports silicon) $(INSTALLED_DOCS)

QDS_PAGES := how-to/ci how-to/counts how-to/qemu-ds how-to/rr reference/qemu-ds
QDS_MODULES := emulated.py initramfs.py programs.py snapshots.py tsc.py
INSTALLED_QDS := $(addprefix $(DESTDIR)$(PREFIX)/,bin/qemu-ds-run \
                   $(addprefix lib/qemu-ds/,guest.py perf.py $(QDS_MODULES) qemu-ds.so) \
                   share/man/man1/qemu-ds-run.1 $(QDS_PAGES:%=share/doc/qemu-ds/%.md))
QDS_LINKS := $(addprefix $(DESTDIR)$(PREFIX)/,$(foreach name,guest perf,bin/qemu-ds-$(name) \
               share/man/man1/qemu-ds-$(name).1))
install-qemu-ds: qemu-ds
	@set -e; set -- $(addprefix tools/qemu-ds/,qemu-ds-run guest.py perf.py $(QDS_MODULES)) $(B)/qemu-ds.so \
	    tools/qemu-ds/qemu-ds-run.1 $(QDS_PAGES:%=docs/%.md); \
	for to in $(INSTALLED_QDS); do \
	    mode=644; case $$1 in */qemu-ds-run | */guest.py | */perf.py | */tsc.py) mode=755 ;; esac; \
	    install -D -m $$mode $$1 $$to; echo $$to; shift; done
	@set -e; for to in $(QDS_LINKS); do name=$${to##*/qemu-ds-}; \
	    case $$to in *.1) ln -sf qemu-ds-run.1 $$to ;; *) ln -sf ../lib/qemu-ds/$$name.py $$to ;; esac; echo $$to; done
uninstall-qemu-ds:
	rm -f $(INSTALLED_QDS) $(QDS_LINKS)
	-rmdir $(DESTDIR)$(PREFIX)/lib/qemu-ds $(addprefix $(DESTDIR)$(PREFIX)/share/doc/qemu-ds,/how-to /reference /)

INSTALLED_GRAB := $(addprefix $(DESTDIR)$(PREFIX)/,bin/cairn-grab share/man/man1/cairn-grab.1)
install-grab: grab
	@set -e; set -- $(B)/cairn-grab tools/grab/cairn-grab.1; mode=755; \
	for to in $(INSTALLED_GRAB); do install -D -m $$mode $$1 $$to; echo $$to; shift; mode=644; done
uninstall-grab: ; rm -f $(INSTALLED_GRAB)

# The course, with all compiled but the students' code: `cairn-labs FOLDER` copies it. Its build folder has what
# `make lab` looks at, without debug information but the kernel's own, which names functions and lines to students; that
# of nasm names this folder. Tests and cairn-grab, which may be built or not, stay out: two releases are the same. One
# time for all: nothing is older than what it is made of.
INSTALLED_LABS := $(DESTDIR)$(PREFIX)/lib/cairn-labs
LABS_PRODUCTS  := $(addprefix $(B)/,BOOTX64.EFI kernel.elf cairn cairn-options libcairn-pebs.a qemu-ds.so flags \
                    loader.signer $(addsuffix .objects,kernel loader libcairn libshared qemu-ds rows))
LABS_OBJECTS   := $(addprefix $(B)/,gen host kernel loader pebs qemu-ds ring3)
install-labs: all labs
	$(if $(filter build,$(B)),,$(error install-labs: B=$(B): `make lab` will look into build))
	@rm -rf $(INSTALLED_LABS) && mkdir -p $(INSTALLED_LABS)
	@{ tools/release/files.sh | grep -vE '^(tests|tools/teacher|labs/autograder)/'; \
	    echo tests/bench/workload.h; echo tests/linux/memory/sharing.c; \
	    find $(LABS_OBJECTS) \( -name tests -o -name grab \) -prune -o -type f -print; ls $(LABS_PRODUCTS); } | \
	    tar -c -T - | tar -x --no-same-owner -C $(INSTALLED_LABS)
	@cd "$(INSTALLED_LABS)" && find $(B) \( -name '*.asm.o' -o -name '*.o' ! -path '$(B)/kernel/*' \) \
	    -exec strip --strip-debug {} + && find . -exec touch -h -r Makefile {} +
	@install -D -m 755 labs/cairn-labs $(DESTDIR)$(PREFIX)/bin/cairn-labs
	@echo $(INSTALLED_LABS); echo $(DESTDIR)$(PREFIX)/bin/cairn-labs
uninstall-labs: ; rm -rf $(INSTALLED_LABS) $(DESTDIR)$(PREFIX)/bin/cairn-labs

deb: tools qemu-ds $(if $(wildcard /usr/include/bpf/libbpf.h),grab)
	@tools/deb.sh $(B) $(VERSION)
deb-labs: all labs
	@tools/deb.sh $(B) $(VERSION) labs
.PHONY: install install-cairn uninstall install-qemu-ds uninstall-qemu-ds install-grab uninstall-grab install-labs \
        uninstall-labs deb deb-labs
