import { expect } from "bun:test";
import {
  ADMIN,
  arrive,
  browserTest,
  checkPage,
  choose,
  disclose,
  fill,
  openPage,
  press,
  seeText,
  signIn,
} from "./browser.ts";

browserTest("the home page names the corpus in use", async () => {
  await using opened = await openPage("/");
  const { page } = opened;
  await seeText(page, "Homologs come from sample, 496 proteins.");
  await checkPage(opened, "home");
  // A closed part stays closed.
  const isOpen = () => page.$$eval("details.block", (all) => all.map(({ open }) => open));
  await disclose(page, "Motif scoring");
  expect(await isOpen()).toEqual([false, true]);
  await page.reload();
  await page.waitForSelector("details.block:not([open])");
  expect(await isOpen()).toEqual([false, true]);
});

browserTest("the home page scores proteins, and shows their results afterwards", async () => {
  await using opened = await openPage("/");
  const { page, url } = opened;
  await choose(page, "Protein", "TP53 human", "Cellular tumor antigen p53");
  await page.waitForFunction(() => document.querySelector("input")?.value === "TP53, Homo sapiens, P04637");
  await Promise.all([page.waitForNavigation(), press(page, "button", "Score")]);
  await arrive(page, "/scan/");
  await seeText(page, "Cellular tumor antigen p53");
  await page.goto(url);
  await page.waitForSelector(".thumbnail");
  await seeText(page, "TP53, Homo sapiens · 48 motifs");
  await page.$eval(".score-line input", (input) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", `>pasted\n${"MEEPQSDPSV".repeat(3)}\n`);
    input.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  });
  await page.waitForFunction(() => document.querySelector("input")?.value === "pasted, 30 residues");
  await fill(page, "Protein", "");
  await page.keyboard.press("Tab");
  await press(page, "button", "E7 with LxCxE");
  await Promise.all([page.waitForNavigation(), press(page, "button", "Score")]);
  await arrive(page, "/score/");
  await seeText(page, "likely functional");
  await page.goto(url);
  await seeText(page, "1 likely");
  await checkPage(opened, "home-results");
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
