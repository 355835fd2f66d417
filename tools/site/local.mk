# SPDX-License-Identifier: MIT
# make site: in build/site scene 0, documents, labs and a gallery, for a browser, with or without a web server.
site: $(B)/cairn $(B)/playground.html
	@command -v mkdocs > /dev/null || { echo "make site: mkdocs is not there: run 'make deps'"; exit 1; }
	@tools/site/site.py $(B)
.PHONY: site
