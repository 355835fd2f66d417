// SPDX-License-Identifier: MIT
// Search for a page that was opened from a file. A browser lets it neither fetch search_index.json nor start a worker.
// So the index comes in by a script, and the theme's worker runs in a hidden frame.
"use strict";
if (location.protocol === "file:") {
  const base = new URL(".", document.currentScript.src);
  const load = (into, url) => new Promise((done, failed) => {
    const script = into.createElement("script");
    script.src = url;
    script.onload = done;
    script.onerror = failed;
    into.head.append(script);
  });

  // The theme looks for the index here before it fetches one.
  window.__search = {
    index: load(document, new URL("search/index.js", base)).then(() => window.searchIndex),
  };

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) => Promise.all(urls.map(each => load(inside.document, new URL(each, url))));
      this.ready = load(inside.document, url);
    }

    postMessage(data) {
      const inside = this.frame.contentWindow;
      this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }
  };
}
