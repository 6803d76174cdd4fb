import { expect } from "bun:test";
import { scratch, serve } from "../executable/labd.ts";
import {
  ADMIN,
  arrive,
  browserTest,
  checkPage,
  choose,
  fill,
  openPage,
  press,
  secretOn,
  seeText,
  signIn,
} from "./browser.ts";
import { write } from "./connection.ts";
import { follow } from "./inventory.ts";

const PASSWORD = "a long password";

browserTest(
  "a colleague uses a tube, takes it out, puts it back, and is refused with a reason",
  async () => {
    using directory = scratch();
    await using server = await serve(directory.directory, ["--admin-password", ADMIN.password]);
    await using mine = await openPage("/sign-in", { server: server.url });
    const { page } = mine;
    await Promise.all([page.waitForNavigation(), signIn(page, ADMIN.username, ADMIN.password)]);
    await follow(page, "Administration");
    await follow(page, "People");
    await press(page, "button", "Add user");
    await fill(page, "Username", "jonas");
    await fill(page, "Full name optional", "Jonas Weber");
    await page.keyboard.press("Enter");
    const link = new URL(await secretOn(page));
    await press(page, "button", "Close");
    await checkPage(mine, "colleague-people");
    await using theirs = await openPage(link.pathname + link.search, { server: server.url });
    const guest = theirs.page;
    await fill(guest, "New password", PASSWORD);
    await fill(guest, "Repeat password", PASSWORD);
    await press(guest, "button", "Set password and sign in");
    await arrive(guest, "/profile");

    const add = async (list: string, body: object): Promise<string> => {
      const { results } = await write(page, "POST", `/api/v2/${list}/?response_format=flat`, body);
      return (results as { id: string }).id;
    };
    const box = await add("locations", { label: "Box 1", grid_rows: 9, grid_columns: 9 });
    const tube = { name: "Taq", location: box, position: "C4", amount: 100 };
    const address = `${server.url}/inventory/stocks-consumables/${await add("stocks/consumables", tube)}`;
    await guest.goto(address);
    await fill(guest, "Use", "10");
    await guest.keyboard.press("Enter");
    await seeText(guest, "Used 10.");
    await seeText(guest, "As last time. Leaves 80.");
    await checkPage(theirs, "colleague-used");
    await press(guest, "button", "Take out");
    await seeText(guest, "You have it since");
    await seeText(guest, "From Box 1, C4, kept free for it");
    await checkPage(theirs, "colleague-taken-out");
    // Handed over, taken over, and undone.
    await press(guest, "button", "Hand over");
    await choose(guest, "To", "admin");
    await checkPage(theirs, "colleague-hand-over");
    await guest.keyboard.press("Enter");
    await seeText(guest, "admin has it since");
    await guest.reload();
    await press(guest, "button", "Undo: Jonas Weber handed Taq to admin");
    await seeText(guest, "You have it since");
    await page.goto(`${server.url}/inventory`);
    await seeText(page, "Jonas Weber has it");
    await checkPage(mine, "colleague-overview");
    await page.goto(address);
    await seeText(page, "Jonas Weber has it since");
    await press(guest, "button", "Put back in C4");
    await seeText(guest, "Put back Taq.");
    await press(guest, "button", "Undo");
    await seeText(guest, "You have it since");
    await press(guest, "button", "Put back in C4");
    await seeText(guest, "Leaves 80.");

    await guest.goto(`${server.url}/inventory/scan`);
    await press(guest, "checkbox", "Stay on this page and list the scans");
    await fill(guest, "Code", address);
    await guest.keyboard.press("Enter");
    await seeText(guest, "Leaves 80.");
    await checkPage(theirs, "colleague-scan");

    await write(page, "PATCH", "/api/v2/groups/SYSTEM_GROUP/", { members_may: "view" });
    await guest.goto(address);
    await seeText(guest, "You can see it, not use it.");
    await seeText(guest, "Ask admin.");
    await checkPage(theirs, "colleague-refused");
    expect(await guest.$eval("main", (main) => main.innerText)).not.toContain("SYSTEM_GROUP");
    expect([...mine.faults, ...theirs.faults]).toEqual([]);
  },
  300_000,
);
