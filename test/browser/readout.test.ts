import { expect, setDefaultTimeout } from "bun:test";
import { EXAMPLES } from "../../src/web/score/examples.ts";
import { helixPdb } from "../fixtures/helix-model.ts";
import { browserTest, checkPage, openPage, OWNER_KEY, press, seeText } from "./browser.ts";
import { scored } from "./submit.ts";

setDefaultTimeout(300_000);

const [{ sequence: P53 }] = EXAMPLES;
/** Width of the labels beside the tracks. */
const LABELS = 128;

browserTest(
  "tracks, alignment and structure point to one residue, which a click or Enter selects",
  async () => {
    const id = await scored({ accession: "P04637", patterns: ["F...W..[VIL]", "P..P"] });
    await using opened = await openPage(`/score/${id}?match=1`);
    const { page, url } = opened;
    page.setDefaultTimeout(30_000);
    await fetch(`${url}/api/scoring/jobs/${id}/model?name=p53.pdb`, {
      method: "PUT",
      headers: { "Content-Type": "application/octet-stream", "Owner-Key": OWNER_KEY },
      body: helixPdb(P53, { bFactors: (i) => (i < 90 ? 45 : 92) }),
    });
    await page.reload();
    const reads = (text: string): Promise<void> => seeText(page, text);
    await page.waitForFunction(() => document.body.innerText.includes("pLDDT of the model"));
    const svg = (await page.waitForSelector(".tracks svg"))!;
    const moveTo = async (residue: number): Promise<void> => {
      const { x, y, width } = (await svg.boundingBox())!;
      await page.mouse.move(x + LABELS + ((width - LABELS) * (residue - 0.5)) / 393, y + 100);
    };
    await moveTo(23);
    await reads("W23");
    for (const text of ["Conservation 100\u00A0%", "Disorder 0.73", "pLDDT of the model 45"])
      await reads(text);
    await reads("19–26, likely functional");
    // Both strips of the tracks, and logo and rows of the alignment.
    expect((await page.$$(".cursor")).length).toBe(4);

    // A move draws nothing else again.
    const watched = await page.evaluateHandle(() => {
      const changed: string[] = [];
      const isPointer = (node: Node): boolean =>
        (node instanceof Element ? node : node.parentElement)?.closest(".readout, .cursor") != null;
      const observer = new MutationObserver((records) => {
        for (const { type, target, addedNodes, removedNodes } of records)
          if (
            !isPointer(target) &&
            !(type === "childList" && [...addedNodes, ...removedNodes].every(isPointer))
          )
            changed.push(`${target.nodeName} ${target.textContent}`);
      });
      observer.observe(document.body, {
        subtree: true,
        childList: true,
        attributes: true,
        characterData: true,
      });
      return { changed, observer };
    });
    for (const residue of [40, 90, 200, 290]) await moveTo(residue);
    await reads("R290");
    expect(
      await watched.evaluate(({ changed, observer }) => {
        observer.disconnect();
        return changed;
      }),
    ).toEqual([]);

    // A click selects the residue and the best match there; the keys go on from it.
    await moveTo(23);
    await page.mouse.down();
    await page.mouse.up();
    await page.waitForFunction(() => location.search.includes("at=23"));
    expect(await page.$eval("#match", (head) => head.textContent)).toBe("FSDLWKLL 19–26");
    await page.mouse.move(0, 0);
    await page.focus(".tracks");
    await page.keyboard.press("ArrowRight");
    await reads("K24");
    await page.focus(".alignment");
    await page.keyboard.down("Shift");
    for (let i = 0; i < 30; i++) await page.keyboard.press("ArrowRight");
    await page.keyboard.up("Shift");
    await reads("D324");
    await page.waitForFunction(() =>
      [...document.querySelectorAll(".alignment .axis")].some((label) => label.textContent === "320"),
    );
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.search.includes("at=324"));
    // A residue of the alignment that is clicked.
    const alignment = (await (await page.waitForSelector(".alignment .picture"))!.boundingBox())!;
    await page.mouse.click(alignment.x + 600, alignment.y + 100);
    await page.waitForFunction(() => /at=3\d\d/.test(location.search) && !location.search.includes("at=324"));

    await press(page, "button", "Show in 3D");
    const canvas = (await page.waitForSelector(".structure-view[aria-busy=false] canvas"))!;
    await press(page, "button", "Show match in the model");
    await page.focus(".structure-view");
    const box = (await canvas.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2 - 1, box.y + box.height / 2);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForFunction(() => {
      const at = Number(document.querySelector(".readout b")?.textContent?.slice(1));
      return at >= 19 && at <= 26;
    });
    await page.mouse.down();
    await page.mouse.up();
    await page.waitForFunction(() => /at=(19|2[0-6])\b/.test(location.search));
    await page.keyboard.press(".");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /at=2[0-7]\b/.test(location.search));
    await checkPage(opened, "readout");

    // A tap selects, a second one ends the selection.
    await page.setViewport({ width: 360, height: 800, hasTouch: true });
    const tap = async (): Promise<void> => {
      const svg = (await page.waitForSelector(".tracks svg"))!;
      await svg.scrollIntoView();
      const { x, y, width } = (await svg.boundingBox())!;
      await page.touchscreen.tap(x + width / 2, y + 130);
    };
    await tap();
    await page.waitForFunction(() => /at=(19|20)\d/.test(location.search));
    await tap();
    await page.waitForFunction(() => !location.search.includes("at="));
    expect(opened.faults).toEqual([]);
  },
);

browserTest("the tracks of a scan read out residues, and zoom", async () => {
  const id = await scored({ accession: "P04637", motifClasses: ["MDM2-SWIB", "LC3-LIR"] });
  await using opened = await openPage(`/scan/${id}?at=23`);
  const { page } = opened;
  page.setDefaultTimeout(30_000);
  await seeText(page, "W23");
  for (const text of ["Conservation 100\u00A0%", "Disorder 0.73", "likely functional"])
    await page.waitForFunction(
      (text) => document.querySelector<HTMLElement>(".readout")?.innerText.includes(text),
      {},
      text,
    );
  await page.focus(".tracks");
  await page.keyboard.press("+");
  await page.waitForFunction(() => /from=\d+&to=\d+/.test(location.search));
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.querySelector(".readout b")?.textContent === "K24");
  expect(opened.faults).toEqual([]);
});
