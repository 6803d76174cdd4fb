import { expect } from "bun:test";
import { scratch, serve } from "../executable/labd.ts";
import { ADMIN, browserTest, checkPage, choose, fill, openPage, post, press, seeText } from "./browser.ts";
import { follow, scan } from "./inventory.ts";

/** What runs out, from the list over an order to tubes in a box. */

const TIMEOUT = 150_000;

browserTest(
  "a product that is running out is requested, ordered, and received into a box",
  async () => {
    using directory = scratch();
    await using server = await serve(directory.directory, ["--admin-password", ADMIN.password]);
    await using opened = await openPage("/inventory/running-out", { server: server.url, signedIn: true });
    const { page } = opened;
    await seeText(page, "Nothing is running out");
    const purchase = { supplier: "New England Biolabs", currency: "EUR" };
    const tube = { model_type: "ENZYME", status: "AVAILABLE", ...purchase };
    for (const values of [
      { ...tube, name: "BsaI-HFv2", catalogue_number: "R3733S", price: 69, amount: 0, product: null },
      {
        ...tube,
        name: "T4 DNA ligase",
        catalogue_number: "M0202S",
        price: 74,
        amount: 12,
        minimum_amount: 20,
      },
      { ...tube, name: "Anti-p53", supplier: "Santa Cruz", expiry: "2020-10-31", amount: 20 },
    ])
      expect(await post(page, "/api/v2/stocks/consumables/", values)).toBe(201);
    const box = { label: "Box 2", grid_rows: 2, grid_columns: 4 };
    expect(await post(page, "/api/v2/locations/", box)).toBe(201);
    await page.reload();
    await seeText(page, "3 products are running out");
    await seeText(page, "1 empty, 1 below minimum, 1 expired. Nobody has asked for any of them.");
    await checkPage(opened, "running-out");
    await press(page, "checkbox", "Select BsaI-HFv2");
    await press(page, "checkbox", "Select T4 DNA ligase");
    await seeText(page, "2 selected, about €\u00A0143.00");
    await press(page, "button", "Order 2 together");
    await fill(page, "Quantity of T4 DNA ligase", "2");
    await seeText(page, "€\u00A0217.00");
    await checkPage(opened, "order-dialog");
    await press(page, "button", "Request");
    await seeText(page, "Requested 2 products.");
    await press(page, "button", "Mark ordered T4 DNA ligase");
    await fill(page, "Account optional", "4711");
    await press(page, "button", "Mark as ordered");
    await seeText(page, "Ordered T4 DNA ligase.");
    await follow(page, "Orders 2");
    await seeText(page, "Requested");
    await follow(page, "Running out 3");
    await press(page, "button", "Received T4 DNA ligase");
    await fill(page, "Lot optional", "K2208");
    await choose(page, "Put into optional", "Box 2");
    await seeText(page, "Next free slot: Box 2, A1");
    await checkPage(opened, "receive-dialog");
    await seeText(page, "Make 2 tubes");
    // Each tube is made as its barcode is scanned.
    await press(page, "checkbox", "Scan the tubes");
    await scan(page, "LIG-0001");
    await seeText(page, "1 of 2 received. Made T4 DNA ligase 2 in A1.");
    await scan(page, "LIG-0001");
    await seeText(page, "T4 DNA ligase 2 has the barcode LIG-0001 already.");
    await checkPage(opened, "receive-scanned");
    await press(page, "button", "Close");
    await follow(page, "Orders 2");
    await seeText(page, "1 of 2 received");
    await press(page, "button", "Received T4 DNA ligase");
    await choose(page, "Put into optional", "Box 2");
    await fill(page, "Lot optional", "K2208");
    await press(page, "checkbox", "Scan the tubes");
    await scan(page, "LIG-0002");
    await seeText(page, "2 of 2 received. Made T4 DNA ligase 3 in A2.");
    await press(page, "button", "Close");
    await seeText(page, "2 products are running out");
    await follow(page, "Received");
    await seeText(page, "M0202S");
    await page.goto(`${server.url}/inventory/stocks-consumables?ordering=-created`);
    await follow(page, "T4 DNA ligase 3");
    await seeText(page, "3 tubes");
    await seeText(page, "lot K2208");
    await checkPage(opened, "product-card");
    await page.goto(`${server.url}/inventory/running-out`);
    await press(page, "button", "Group tubes");
    await seeText(page, "BsaI-HFv2, New England Biolabs, R3733S");
    await press(page, "button", "Group 1 tube");
    await seeText(page, "Grouped tubes into 1 product.");
    await page.goto(`${server.url}/inventory/stocks-products`);
    await follow(page, "T4 DNA ligase");
    await press(page, "button", "Edit");
    await press(page, "checkbox", "GHS07 Harmful");
    await press(page, "checkbox", "GHS02 Flammable");
    await checkPage(opened, "product-hazards");
    await press(page, "button", "Save");
    await seeText(page, "GHS02 Flammable, GHS07 Harmful");
    await checkPage(opened, "product");
  },
  TIMEOUT,
);
