import { expect } from "bun:test";
import { browserTest, checkPage, openPage, press, seeText } from "./browser.ts";

browserTest("shows help, whose pages lead to each other", async () => {
  await using opened = await openPage("/score");
  const { page } = opened;
  await press(page, "link", "Help");
  await seeText(page, "Short linear motifs are easy to find by chance");
  await checkPage(opened, "help");
  await press(page, "link", "The method");
  await seeText(page, "From a query to a score");
  expect(await page.title()).toBe("The method · labd");
  await checkPage(opened, "help-method");
});
