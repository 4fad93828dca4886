"use strict";
(() => {
  const told = document.getElementById("live");
  if (!told) return;
  const name = (one) => {
    const words = [one.closest("section")?.firstElementChild.firstChild, one.firstElementChild];
    return one.closest("[id]").id + words.map((part) => part?.textContent.replace(/\d+/g, ""));
  };
  const renew = async () => {
    const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
    const was = new Map([...document.querySelectorAll("main details")].map((one) => [name(one), one.open]));
    for (const one of page.querySelectorAll("main details")) one.open = was.get(name(one)) ?? one.open;
    const next = page.getElementById("page");
    if (!next) return;
    document.getElementById("page").replaceWith(next);
    document.title = page.title;
    document.body.dataset.head = page.body.dataset.head;
  };
  const look = async () => {
    try {
      const said = document.hidden ? null : await fetch(`${document.body.dataset.top}/head`);
      if (said?.ok) {
        if ((await said.text()) !== document.body.dataset.head) await renew();
        told.textContent = "live";
      } else if (said) told.textContent = "not live: open the address that memento web printed";
    } catch {
      told.textContent = "not live: memento web has ended";
    }
    setTimeout(look, 2000);
  };
  look();
})();
