import { expect } from "bun:test";
import {
  arrive,
  browserTest,
  checkPage,
  choose,
  fill,
  named,
  openPage,
  press,
  seeText,
  site,
} from "./browser.ts";
import { waitFor } from "../wait.ts";
import { BEFORE_CAMERA } from "./camera.ts";
import { scan } from "./inventory.ts";

browserTest(
  "creates labels for the records of a list",
  async () => {
    await using opened = await openPage("/inventory/stocks-consumables?location__label=-20%20drawer%201", {
      signedIn: true,
    });
    const { page } = opened;
    await seeText(page, "T4 DNA ligase");
    await press(page, "button", "More");
    await Promise.all([page.waitForNavigation(), press(page, "link", "Labels")]);
    await seeText(page, "2 labels on 1 sheet");
    await (await named(page, "combobox", "Labels")).select("a4-5x13");
    await fill(page, "Labels already used on the first sheet", "64");
    await seeText(page, "2 labels on 2 sheets");
    await checkPage(opened, "labels");
    // Chromium does not close a window that downloads: what would be downloaded is kept instead.
    await page.evaluate(() => {
      HTMLAnchorElement.prototype.click = function () {
        document.title = this.download;
      };
      URL.createObjectURL = (blob) => {
        void (blob as Blob)
          .slice(0, 5)
          .text()
          .then((text) => document.body.setAttribute("data-file", text));
        return "blob:kept";
      };
    });
    await press(page, "button", "Create labels");
    await page.waitForFunction(() => document.body.getAttribute("data-file") === "%PDF-");
    expect(await page.title()).toBe("stocks-consumables-labels.pdf");
    await page.goto(`${opened.url}/inventory/labels?list=places`);
    await page.waitForFunction(() =>
      [...document.querySelectorAll("select")].some(({ value }) => value === "a4-5x13"),
    );
    await page.goto(`${opened.url}/inventory/labels?list=places&sheet=25x10&symbol=code128`);
    await seeText(page, " labels");
    await press(page, "button", "Create labels");
    await seeText(page, "is too small for a readable barcode");
  },
  300_000,
);

browserTest(
  "a new record gets a code, whose label is previewed, and printed with the layout of a named printer",
  async () => {
    await using opened = await openPage("/inventory/stocks-consumables/new", { signedIn: true });
    const { page } = opened;
    await fill(page, "Name", "Mounting medium");
    await page.keyboard.press("Enter");
    await seeText(page, "Added Mounting medium. Its code is CO");
    const code = /CO\d{7}/.exec(await page.$eval(".toast", (toast) => toast.textContent))![0];
    await checkPage(opened, "record-added");
    await Promise.all([page.waitForNavigation(), press(page, "button", "Print label")]);
    await seeText(page, "1 label on 1 sheet");
    let shown = "";
    page.on("response", (response) => {
      if (response.url().includes("preview=true")) shown = response.url();
    });
    // The browser keeps no text of an answer that becomes an image: it is asked for again, at an address that differs.
    const readPreview = () =>
      page.evaluate(
        async (address) => (await fetch(address)).text(),
        shown.replace("preview=true", "preview=%74rue"),
      );
    const shows = (text: string) =>
      waitFor(async () => shown !== "" && (await readPreview()).includes(text), readPreview);
    await page.reload();
    const hasSize = (...sides: number[]) =>
      page.waitForFunction(
        (wanted) => {
          const image = document.querySelector(".label-preview img");
          const sizes = image ? [image.clientWidth, image.clientHeight] : [];
          return sizes.map((side) => Math.round((side * 25.4) / 96)).join() === wanted;
        },
        {},
        sides.join(),
      );
    await shows(`>${code}<`);
    await shows(">Mounting medium<");
    await hasSize(210, 297);
    await checkPage(opened, "labels-preview");
    await (await named(page, "combobox", "Printer")).select("zpl");
    await shows('viewBox="0 0 50 25"');
    await hasSize(50, 25);
    await (await named(page, "checkbox", "Owner")).click();
    await shows(">Owner admin<");
    await (await named(page, "combobox", "Labels")).select("57x32");
    await shows('viewBox="0 0 57 32"');
    await press(page, "button", "Save layout");
    await page.waitForSelector("dialog input");
    await page.type("dialog input", "Zebra in 204");
    await page.click("dialog .btn-primary");
    await seeText(page, "Saved Zebra in 204.");
    // Another list: lines that its records lack are left out.
    await page.goto(`${opened.url}/inventory/labels?list=places`);
    await seeText(page, " labels");
    await page.waitForFunction(() => document.querySelector("select")!.textContent.includes("Zebra in 204"));
    const printer = await named(page, "combobox", "Printer");
    await printer.select(
      await page.$$eval("option", (options) => options.find(({ text }) => text === "Zebra in 204")!.value),
    );
    await shows('viewBox="0 0 57 32"');
    await shows(">Owner ");
    await checkPage(opened, "labels-printer");
  },
  300_000,
);

browserTest("opens a record by scanning its code, and by the address on its label", async () => {
  await using opened = await openPage("/inventory/scan");
  const { page } = opened;
  await scan(page, "no such code");
  await seeText(page, "No record that you can view has the code");
  await scan(page, "CO0000006");
  await arrive(page, "/inventory/stocks-consumables/");
  await seeText(page, BEFORE_CAMERA.name);
  await page.goBack();
  await seeText(page, "Last scans");
  await (await named(page, "checkbox", "Stay on this page and list the scans")).click();
  await page.focus("input[type=text]");
  await scan(page, "aebc178f9012");
  await seeText(page, "Found -80 North.");
  await checkPage(opened, "scan");
  await page.goto(`${opened.url}/i/${BEFORE_CAMERA.id.slice(0, 13)}`);
  await arrive(page, `/inventory/stocks-consumables/${BEFORE_CAMERA.id}`);
});

browserTest("reads a label with the camera", async () => {
  await using opened = await openPage("/inventory/scan");
  await press(opened.page, "button", "Use the camera");
  await arrive(opened.page, `/inventory/stocks-consumables/${BEFORE_CAMERA.id}`);
  expect(opened.faults).toEqual([]);
});

browserTest(
  "takes stock of a drawer, applies and reports it, and undoes that",
  async () => {
    await using opened = await openPage("/inventory/stocktakes", { signedIn: true });
    const { page } = opened;
    await Promise.all([page.waitForNavigation(), press(page, "link", "Add stocktake")]);
    await named(page, "textbox", "Location");
    await checkPage(opened, "stocktake-location");
    await choose(page, "Location", "-20 drawer 1");
    await seeText(page, "Stocktake of -20 drawer 1");
    await page.goto(`${opened.url}/inventory/storage?of=locations/f0edd1ea-6c21-549a-babe-04232fb34961`);
    await press(page, "button", "More");
    await Promise.all([page.waitForNavigation(), press(page, "link", "Stocktake")]);
    await seeText(page, "Stocktake of -20 drawer 1");
    await checkPage(opened, "stocktake-begin");
    await Promise.all([page.waitForNavigation(), press(page, "button", "Start")]);
    await seeText(page, "Use the camera");
    await scan(page, "CO0000006");
    await seeText(page, "found BsaI-HF");
    await scan(page, "CO0000008");
    await seeText(page, "misplaced HEPES 1 M pH 7.4");
    await scan(page, "4006381333931");
    await seeText(page, "Unknown codes");
    await seeText(page, "recorded in Cold room shelf 1, found in -20 drawer 1");
    await checkPage(opened, "stocktake");

    await page.reload();
    await seeText(page, "Unknown codes");
    await press(page, "button", "Remove 4006381333931");
    await page.waitForFunction(() => !document.body.innerText.includes("Unknown codes"));
    await press(page, "button", "Apply");
    await seeText(page, "1 record will change");
    await seeText(page, "1 record that was not scanned stays unchanged.");
    await (await named(page, "combobox", "Records that were not scanned")).select("status");
    await seeText(page, "1 record that was not scanned is marked as missing.");
    await seeText(page, "2 records will change");
    await page.evaluate(() => Promise.all(document.getAnimations().map((each) => each.finished)));
    await checkPage(opened, "stocktake-apply");
    await page.click("dialog .btn-primary");
    await seeText(page, "Stocktake applied.");
    await seeText(page, "marked as missing");
    await checkPage(opened, "stocktake-report");
    const { url } = await site();
    const at = async () =>
      page.evaluate(async () => {
        const query = "name=HEPES&fields=location__label&response_format=flat";
        const response = await fetch(`/api/v2/stocks/consumables/?${query}`);
        return ((await response.json()) as { results: { location__label: string }[] }).results[0]
          .location__label;
      });
    expect(await at()).toBe("-20 drawer 1");
    const csv = await page.evaluate(
      async (address) => (await fetch(address)).text(),
      await page.$eval("a[download='stocktake.csv']", (link) => link.href),
    );
    expect(csv).toContain("HEPES 1 M pH 7.4,CO0000008,CO0000008,Cold room shelf 1,'-20 drawer 1,moved");
    await press(page, "button", "Undo");
    await seeText(page, "Use the camera");
    expect(await at()).toBe("Cold room shelf 1");
    expect(page.url()).toStartWith(`${url}/inventory/stocktake/`);
  },
  300_000,
);
