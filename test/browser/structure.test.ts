import { expect, setDefaultTimeout } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { EXAMPLES } from "../../src/web/score/examples.ts";
import { helixPdb } from "../fixtures/helix-model.ts";
import { browserTest, checkPage, openPage, press, seeText, upload } from "./browser.ts";
import { scored } from "./submit.ts";

setDefaultTimeout(300_000);

const [{ sequence: P53 }] = EXAMPLES;

/** The picture of the model, once it has stopped changing. */
async function takePicture(page: Page): Promise<string> {
  const box = (await page.waitForSelector(".structure-view[aria-busy=false] canvas"))!;
  let last = "";
  for (let i = 0; i < 50; i++) {
    const now = await box.screenshot({ encoding: "base64" });
    if (now === last) return now;
    last = now;
  }
  throw new Error("the picture keeps changing");
}

browserTest("shows an uploaded model in words and in 3D, keeps it, and removes it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "labd-model-"));
  using _cleanup = { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const id = await scored({ accession: "P04637", motifClasses: ["MDM2-SWIB"] });
  await using opened = await openPage(`/score/${id}`, { isOwner: true });
  const { page } = opened;
  await seeText(page, "No model yet.");
  await seeText(page, "Predicted pLDDT");
  await upload(page, write("other.pdb", helixPdb("MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAP")));
  await seeText(page, "no chain is this protein");
  await upload(
    page,
    write("p53.pdb", helixPdb(P53.replace("FSDLW", "FADLW"), { bFactors: (i) => (i < 90 ? 45 : 92) })),
  );
  await seeText(page, "Residues that differ: S20A.");
  await seeText(page, "Its mean pLDDT is 45: the region is probably disordered.");
  await seeText(page, "pLDDT of the model");

  await page.reload();
  await press(page, "button", "Show in 3D");
  const whole = await takePicture(page);
  await press(page, "button", "Show match in the model");
  const match = await takePicture(page);
  expect(match).not.toBe(whole);
  expect(match.length).toBeGreaterThan(8000);
  await press(page, "button", "pLDDT");
  expect(await takePicture(page)).not.toBe(match);
  await (await page.waitForSelector(".structure-view"))!.focus();
  await page.keyboard.press("0");
  const before = await takePicture(page);
  await page.keyboard.press("ArrowDown");
  expect(await takePicture(page)).not.toBe(before);
  await checkPage(opened, "structure");
  await page.setViewport({ width: 360, height: 800 });
  expect(await takePicture(page)).not.toBe(before);

  await page.evaluateOnNewDocument(() => {
    HTMLCanvasElement.prototype.getContext = () => null;
  });
  await page.reload();
  await press(page, "button", "Show in 3D");
  await seeText(page, "This browser has no WebGL");
  await press(page, "button", "Remove");
  await seeText(page, "No model yet.");
  expect(opened.faults).toEqual([]);
});
