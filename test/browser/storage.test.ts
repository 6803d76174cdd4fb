import { expect } from "bun:test";
import { browserTest, choose, checkPage, openPage, press, seeText } from "./browser.ts";

browserTest("opens the tree level by level, and shows the records in a location", async () => {
  await using opened = await openPage("/inventory/tree", { signedIn: true });
  const { page } = opened;
  await press(page, "button", "Contents of A 101");
  await press(page, "button", "Contents of Freezer -20 Enzymes");
  await seeText(page, "-20 Enzymes");
  await checkPage(opened, "location-tree");
  await press(page, "button", "Contents of -20 Enzymes");
  await seeText(page, "-20 drawer 1");
  await Promise.all([page.waitForNavigation(), press(page, "link", "Freezer -20 Enzymes")]);
  await seeText(page, "slots in use");
  await seeText(page, "Next free slot: Box oligos 1, ");
  await checkPage(opened, "location-free-slots");
  await press(page, "button", "Contents of -20 Enzymes");
  await Promise.all([page.waitForNavigation(), press(page, "link", "-20 drawer 1")]);
  await seeText(page, "Consumables 2");
  await seeText(page, "T4 DNA ligase");
  const crumbs = await page.$eval(".crumbs", (list) =>
    (list as HTMLElement).innerText.replace(/[\s›]+/g, " "),
  );
  expect(crumbs).toBe("Locations A 101 Freezer -20 Enzymes -20 Enzymes");
  await checkPage(opened, "location-contents");
});

browserTest("moves a location by keyboard, and undoes it", async () => {
  await using opened = await openPage("/inventory/tree", { signedIn: true });
  const { page } = opened;
  await press(page, "button", "Contents of A 105");
  await seeText(page, "Anemone shelf");
  await press(page, "button", "Move Anemone shelf");
  await choose(page, "Destination", "-20 drawer 3");
  await checkPage(opened, "location-move");
  await press(page, "button", "Move");
  await seeText(page, "Moved Anemone shelf to");
  await page.waitForFunction(() => !document.querySelector(".tree")?.textContent?.includes("Anemone shelf"));
  await press(page, "button", "Undo");
  await seeText(page, "Undone.");
  await page.waitForFunction(() => document.querySelector(".tree")?.textContent?.includes("Anemone shelf"));
});

browserTest("moves a location by dragging, but not to an invalid target", async () => {
  await using opened = await openPage("/inventory/tree", { signedIn: true });
  const { page } = opened;
  await press(page, "button", "Contents of A 105");
  await seeText(page, "Anemone shelf");
  const drag = (from: string, to: string): Promise<boolean> =>
    page.evaluate(
      (source, target) => {
        const node = (name: string): Element =>
          [...document.querySelectorAll(".node")].find(
            (each) => each.querySelector("a")!.innerText === name,
          )!;
        const data = { dataTransfer: new DataTransfer(), bubbles: true, cancelable: true };
        node(source).dispatchEvent(new DragEvent("dragstart", data));
        // A target that takes it says so.
        const taken = !node(target).dispatchEvent(new DragEvent("dragover", data));
        node(target).dispatchEvent(new DragEvent("drop", data));
        node(source).dispatchEvent(new DragEvent("dragend", data));
        return taken;
      },
      from,
      to,
    );
  expect(await drag("A 105", "A 102")).toBe(false);
  expect(await drag("Anemone shelf", "A 102")).toBe(true);
  await seeText(page, "Moved Anemone shelf to");
  await page.waitForFunction(() => !document.querySelector(".tree")?.textContent?.includes("Anemone shelf"));
  await press(page, "button", "Contents of A 102");
  await page.waitForFunction(() => document.querySelector(".tree")?.textContent?.includes("Anemone shelf"));
  await press(page, "button", "Undo");
  await seeText(page, "Undone.");
});
