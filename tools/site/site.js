// SPDX-License-Identifier: MIT
// What the theme lacks for those who use a keyboard or hear the page: a name for the search, and keys that scroll wide
// outputs, pictures and tables. The theme wraps tables late, and takes the focus from outputs where there is no mouse.
"use strict";
{
  document.querySelector(".md-search").setAttribute("aria-label", "Search");
  const reach = () => {
    const regions = "pre > code, .gallery, .md-typeset__scrollwrap, .md-search__scrollwrap";
    for (const each of document.querySelectorAll(regions))
      if (each.tabIndex !== 0 && (each.scrollWidth > each.clientWidth || each.matches(".md-search__scrollwrap")))
        each.tabIndex = 0;
  };
  reach();
  addEventListener("resize", reach);
  new MutationObserver(reach).observe(document.body, { subtree: true, childList: true, attributeFilter: ["tabindex"] });
}
