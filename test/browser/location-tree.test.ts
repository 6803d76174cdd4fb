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
