import { call, callForResponse } from "../../src/web/request.ts";

/** Calls that must not pass the type check: `bun check` reports an expected error that does not occur. */
export async function wrongCalls(id: string): Promise<void> {
  // @ts-expect-error: the path has a spelling mistake.
  await call("GET /api/webhook/:id/", { params: { id } });
  // @ts-expect-error: the operation has another method.
  await call("PUT /api/webhooks/:id/", { params: { id } });
  // @ts-expect-error: the id is missing.
  await call("GET /api/webhooks/:id/");
  // @ts-expect-error: the path has no part of this name.
  await call("GET /api/webhooks/:id/", { params: { name: id } });
  // @ts-expect-error: the id is a text.
  await call("GET /api/webhooks/:id/", { params: { id: 1 } });
  // @ts-expect-error: a field of the body has another name.
  await call("POST /api/webhooks/:id/secret/", { params: { id }, body: { overlap: 1 } });
  // @ts-expect-error: a field of the body has another type.
  await call("POST /api/webhooks/:id/secret/", { params: { id }, body: { overlap_hours: "1" } });
  // @ts-expect-error: a required field of the body is missing.
  await call("POST /api/webhooks/", { body: { events: ["ping"] } });
  // @ts-expect-error: the operation has no body.
  await call("POST /api/webhooks/:id/resume/", { params: { id }, body: {} });
  // @ts-expect-error: the parameter has another name.
  await call("GET /api/webhooks/:id/deliveries/", { params: { id }, query: { limit: 5 } });
  // @ts-expect-error: the operation has no parameters.
  await call("GET /api/webhooks/", { query: { page_size: 5 } });
  // @ts-expect-error: the search needs words.
  await call("GET /api/v2/search/", { query: { limit: 5 } });
  // @ts-expect-error: a field of the body is missing.
  await call("POST /api/v2/:list/build/", { params: { list: "locations" }, body: { public: true } });
  const webhook = await call("GET /api/webhooks/:id/", { params: { id } });
  // @ts-expect-error: the answer has no member of this name.
  String(webhook.address);
  // @ts-expect-error: the member is a number.
  webhook.waiting satisfies string;
  // @ts-expect-error: the state is one of two others.
  String(webhook.state === "paused");
}

/** Lists, writes that name their batch, and OPTIONS: also calls that must not pass. */
export async function wrongListCalls(id: string): Promise<void> {
  const params = { list: "stocks/consumables", id };
  // @ts-expect-error: the list is missing.
  await call("GET /api/v2/:list/", { params: { id } });
  // @ts-expect-error: no list has this operation.
  await call("GET /api/v2/:list/:id/copies/", { params });
  // @ts-expect-error: the part of the record is missing.
  await call("GET /api/v2/:list/:id/:part/", { params });
  // @ts-expect-error: a filter is a text, a number or a list of texts.
  await call("GET /api/v2/:list/", { params: { list: "places" }, query: { name: { contains: "x" } } });
  const page = await call("GET /api/v2/:list/", { params: { list: "places" } });
  // @ts-expect-error: a page has no member of this name.
  String(page.count);
  // @ts-expect-error: the id is a text.
  page.results[0].id satisfies number;
  // @ts-expect-error: the values of fields are not known here.
  page.results[0].name satisfies string;
  // @ts-expect-error: a field of a body is JSON.
  await callForResponse("PATCH /api/v2/:list/:id/", { params, body: { name: new Date() } });
  // @ts-expect-error: the amount is a number.
  await callForResponse("POST /api/v2/:list/:id/consume/", { params, body: { amount: "5" } });
  // @ts-expect-error: the records are missing.
  await callForResponse("POST /api/v2/:list/:id/free_slots/", { params, body: {} });
  // @ts-expect-error: the version is a number.
  await callForResponse("POST /api/v2/:list/:id/restore/", { params, body: { version: "first" } });
  // @ts-expect-error: undoing takes the id of the batch.
  await callForResponse("POST /api/v2/batches/:id/undo/", { params: { batch: id }, body: {} });
  // @ts-expect-error: the missing items are kept, marked or cleared.
  await callForResponse("POST /api/v2/:list/:id/apply/", { params, body: { missing: "drop" } });
  // @ts-expect-error: the method is OPTIONS.
  await call("OPTION /api/v2/:list/", { params });
  // @ts-expect-error: OPTIONS has no body.
  await call("OPTIONS /api/v2/:list/", { params: { list: "places" }, body: {} });
}

/** Calls that pass it. */
export async function rightCalls(id: string, size: number | undefined): Promise<string[]> {
  const { url } = await call("POST /api/webhooks/", { body: { url: "https://hooks.example/" } });
  await call("POST /api/webhooks/:id/secret/", { params: { id }, body: { overlap_hours: size } });
  await call("DELETE /api/webhooks/:id/", { params: { id } });
  const { signal } = new AbortController();
  const { results } = await call("GET /api/webhooks/:id/deliveries/", {
    params: { id },
    query: { page_size: size },
    signal,
  });
  const { total } = await call("GET /api/webhooks/");
  await call("GET /api/v2/:list/", { params: { list: "stocks/consumables" }, query: { page_size: 5 } });
  const tokens = await call("GET /api/v2/tokens/");
  await call("DELETE /api/v2/tokens/:id/", { params: { id: tokens.results[0].id } });
  return [url, String(total), ...results.map(({ event }) => event)];
}
