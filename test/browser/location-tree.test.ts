import { expect } from "bun:test";
import { browserTest, choose, checkPage, openPage, press, seeText } from "./browser.ts";

browserTest("the tree opens level by level, and tells what is kept where", async () => {
  await using opened = await openPage("/inventory/tree", { signedIn: true });
  const { page } = opened;
  await press(page, "button", "What lies in A 101");
  await press(page, "button", "What lies in Freezer -20 Enzymes");
  await seeText(page, "-20 Enzymes");
  await checkPage(opened, "location-tree");
  await press(page, "button", "What lies in -20 Enzymes");
  await seeText(page, "-20 drawer 1");
  await Promise.all([page.waitForNavigation(), press(page, "link", "-20 drawer 1")]);
  await seeText(page, "2 consumables");
  await seeText(page, "T4 DNA ligase");
  const trail = await page.$eval("nav[aria-label='Where it is']", (nav) =>
    nav.innerText.replace(/\s+/g, " "),
  );
  expect(trail).toBe("Everything A 101 Freezer -20 Enzymes -20 Enzymes -20 drawer 1");
  await checkPage(opened, "location-contents");
});

browserTest("a location is moved by keyboard, and back", async () => {
  await using opened = await openPage("/inventory/tree", { signedIn: true });
  const { page } = opened;
  await press(page, "button", "What lies in A 105");
  await seeText(page, "Anemone shelf");
  await press(page, "button", "Move Anemone shelf");
  await choose(page, "Which location", "-20 drawer 3");
  await checkPage(opened, "location-move");
  await press(page, "button", "Move it there");
  await seeText(page, "Anemone shelf moved.");
  await page.waitForFunction(() => !document.querySelector(".tree")?.textContent?.includes("Anemone shelf"));
  await press(page, "button", "Undo");
  await seeText(page, "Undone.");
  await page.waitForFunction(() => document.querySelector(".tree")?.textContent?.includes("Anemone shelf"));
});

browserTest("a location is dragged into another room, and what does not fit takes nothing", async () => {
  await using opened = await openPage("/inventory/tree", { signedIn: true });
  const { page } = opened;
  await press(page, "button", "What lies in A 105");
  await seeText(page, "Anemone shelf");
  const drag = (from: string, to: string): Promise<boolean> =>
    page.evaluate(
      (source, target) => {
        const twig = (name: string): Element =>
          [...document.querySelectorAll(".twig")].find(
            (each) => each.querySelector("a")!.innerText === name,
          )!;
        const data = { dataTransfer: new DataTransfer(), bubbles: true, cancelable: true };
        twig(source).dispatchEvent(new DragEvent("dragstart", data));
        // A target that takes it says so.
        const taken = !twig(target).dispatchEvent(new DragEvent("dragover", data));
        twig(target).dispatchEvent(new DragEvent("drop", data));
        twig(source).dispatchEvent(new DragEvent("dragend", data));
        return taken;
      },
      from,
      to,
    );
  expect(await drag("A 105", "A 102")).toBe(false);
  expect(await drag("Anemone shelf", "A 102")).toBe(true);
  await seeText(page, "Anemone shelf moved.");
  await page.waitForFunction(() => !document.querySelector(".tree")?.textContent?.includes("Anemone shelf"));
  await press(page, "button", "What lies in A 102");
  await page.waitForFunction(() => document.querySelector(".tree")?.textContent?.includes("Anemone shelf"));
  await press(page, "button", "Undo");
  await seeText(page, "Undone.");
});
