import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { connectBy } from "../assistants/laboratory.ts";
import { labd, scratch, serve } from "../executable/labd.ts";
import { ADMIN, browserTest, checkPage, openPage, post, press, seeText } from "./browser.ts";

/** The page on which people confirm what an assistant plans. */

browserTest(
  "a change that an assistant plans is confirmed, asked again after another change, or rejected",
  async () => {
    using data = scratch();
    const { directory } = data;
    await using server = await serve(directory, ["--admin-password", ADMIN.password, "--assistants", "link"]);
    const token = (await labd(["token", "add", "admin", "--data-dir", directory])).stdout.trim();
    const { call } = await connectBy(
      new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
        requestInit: { headers: { Authorization: `Bearer ${token}` } },
      }),
    );
    await using opened = await openPage("/inventory", { server: server.url, signedIn: true });
    const { page } = opened;
    for (const name of ["T4 DNA ligase", "BsaI-HFv2"])
      await post(page, "/api/v2/stocks/consumables/", { name, model_type: "ENZYME" });
    const { data: listed } = await call("list_records", { list: "stocks/consumables", fields: ["id"] });
    const items = (listed.results as { id: string }[]).map(({ id }) => ({ consumable: id, quantity: 2 }));
    const plan = async (): Promise<string> => (await call("order_products", { items })).data.link;

    await page.goto(await plan());
    await seeText(page, "Add the order T4 DNA ligase, quantity 2.");
    await checkPage(opened, "assistant-change");
    await press(page, "button", "Reject");
    await seeText(page, "Rejected");

    await page.goto(await plan());
    await press(page, "button", "Confirm");
    await seeText(page, "Changed");
    await checkPage(opened, "assistant-changed");
    await press(page, "link", "Undo in recent changes");
    await seeText(page, "added 2 orders");

    const [first] = items;
    const take = { list: "stocks/consumables", id: first.consumable };
    const { data: taking } = await call("take_out_stock", take);
    await post(page, `/api/v2/stocks/consumables/${first.consumable}/take_out/`, {});
    await page.goto(taking.link);
    await press(page, "button", "Confirm");
    await seeText(page, "The records have changed since you were asked.");

    await using stranger = await openPage(new URL(taking.link).pathname, { server: server.url });
    await seeText(stranger.page, "Sign in to confirm the change.");
  },
  150_000,
);
