import { expect } from "bun:test";
import { ADMIN, browserTest, checkPage, openPage, press, seeText, signIn } from "./browser.ts";

browserTest("the home page names the corpus in use", async () => {
  await using opened = await openPage("/");
  await seeText(opened.page, "Homologs come from sample, 496 proteins.");
  await checkPage(opened, "home");
});

browserTest("signing in by keyboard returns to the page before; signing out ends the session", async () => {
  await using opened = await openPage("/sign-in?next=%2F%3Fback%3D1");
  const { page, url } = opened;
  await checkPage(opened, "sign-in");
  await signIn(page, ADMIN.username, "not the password");
  await seeText(page, "Wrong username or password.");
  await checkPage(opened, "sign-in-refused");
  await Promise.all([page.waitForNavigation(), signIn(page, ADMIN.username, ADMIN.password)]);
  expect(page.url()).toBe(`${url}/?back=1`);
  await Promise.all([page.waitForNavigation(), press(page, "button", "Sign out")]);
  await page.waitForSelector("a[href^='/sign-in']");
});

browserTest("the first tab stop skips the navigation", async () => {
  await using opened = await openPage("/");
  await opened.page.keyboard.press("Tab");
  await opened.page.keyboard.press("Enter");
  expect(await opened.page.evaluate(() => document.activeElement?.id)).toBe("content");
});
