import { expect } from "bun:test";
import { ADMIN, browserTest, checkPage, fill, named, openPage, press, seeText } from "./browser.ts";

browserTest("the home page says what is here, and where homologs come from", async () => {
  await using opened = await openPage("/");
  await seeText(opened.page, "Homologs come from sample, 496 proteins.");
  await checkPage(opened, "home");
});

browserTest("a person signs in by keyboard, comes back to where they were, and signs out", async () => {
  await using opened = await openPage("/sign-in?next=%2F%3Fback%3D1");
  const { page, url } = opened;
  await checkPage(opened, "sign-in");
  await (await named(page, "textbox", "Name")).focus();
  await page.keyboard.type(ADMIN.username);
  await page.keyboard.press("Tab");
  await page.keyboard.type("not the password");
  await page.keyboard.press("Enter");
  await seeText(page, "Name and password do not fit.");
  await checkPage(opened, "sign-in-refused");
  await fill(page, "Password", ADMIN.password);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  expect(page.url()).toBe(`${url}/?back=1`);
  await seeText(page, "Sign out");
  await Promise.all([page.waitForNavigation(), press(page, "button", "Sign out")]);
  await page.waitForSelector("a[href^='/sign-in']");
});

browserTest("the first stop of the keyboard leads past the navigation", async () => {
  await using opened = await openPage("/");
  await opened.page.keyboard.press("Tab");
  await opened.page.keyboard.press("Enter");
  expect(await opened.page.evaluate(() => document.activeElement?.id)).toBe("content");
});
