# SPDX-License-Identifier: MIT
# make dist: what a release has, in build/dist (docs/how-to/release.md). Its time is that of the commit.
dist:
	@tools/release/commit.sh --clean >/dev/null
	@unset SOURCE_DATE_EPOCH; $(MAKE) --no-print-directory image stick site deb deb-labs
	@tools/release/dist.sh $(B) $(VERSION)
.PHONY: dist
