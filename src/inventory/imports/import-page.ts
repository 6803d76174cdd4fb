import { markup } from "../../platform/html.ts";
import { browsablePage } from "../api/browsable.ts";
import { sessionForm } from "../api/browsable-forms.ts";
import type { ImportStatus } from "./imports.ts";
import type { Json } from "../model/field.ts";
import { MEDIA_TYPES } from "../api/negotiation.ts";
import { type Call, here, respond } from "../api/response.ts";
import { DECLARED, type RoutedResource } from "../resources/index.ts";

/** Pages for people who import files, without scripts: one loads itself again as long as something goes on. */

/** Seconds between two looks. */
const REFRESH = 1;

/** An import as its address tells of it. */
export function importJson(call: Call, { resource, id, ...status }: ImportStatus): { [name: string]: Json } {
  const list = DECLARED.get(resource)?.segment ?? resource;
  const json = { id, url: `${call.base}imports/${id}/`, list: `${call.base}${list}/`, ...status };
  return json as unknown as { [name: string]: Json };
}

const trail = (call: Call, name: string, address: string) => [
  { name: "api", address: `${call.base}?format=api` },
  { name: "imports", address: `${call.base}imports/?format=api` },
  { name, address },
];

/** The page with the form that takes a file. */
export function uploadPage(call: Call, resource: RoutedResource): Response {
  const address = here(call);
  const { username } = call.actor;
  const send = (dry: string, name: string) =>
    markup`<button formaction="${address}?format=api${dry}">${name}</button>`;
  const form = markup`<form method="post" enctype="multipart/form-data" action="${address}?format=api">
<p><label for="file">CSV or XLSX; the first row names the fields</label><input id="file" name="file" type="file" accept=".csv,.xlsx" required></p>
${send("&dry_run=1", "Try out")}${send("", "Import")}</form>`;
  const page = browsablePage(
    {
      title: `Import into ${resource.segment}`,
      summary:
        "All rows of a file are written, or none. Trying out writes nothing and tells what would happen.",
      method: call.method,
      address: address + call.url.search,
      status: "200 OK",
      headers: { "Content-Type": "application/json" },
      trail: trail(call, resource.segment, `${call.base}${resource.segment}/?format=api`),
      links: [{ name: "Template (XLSX)", address }],
      session: sessionForm(call.base, username, call.url.pathname + call.url.search),
      forms: username === null ? [] : [form],
    },
    { template: address },
  );
  return respond(page, 200, MEDIA_TYPES.api, { Vary: "Accept, Cookie" });
}

/** One import as a page. */
export function importPage(call: Call, status: ImportStatus, headers: Record<string, string>): Response {
  const json = importJson(call, status);
  const underWay = status.ended === null;
  const { rows, rows_read: read, rows_checked: checked } = status;
  const number = (n: number) => n.toLocaleString("en");
  const far =
    status.state === "writing"
      ? `${number(checked)} of ${number(rows ?? 0)} rows are checked and written; they count when all are.`
      : status.state === "reading"
        ? `${number(read)} rows are read.`
        : underWay
          ? "Waits for others."
          : (status.message ?? told(status));
  const bar = markup`<p><progress max="${rows ?? 1}" value="${rows === null ? 0 : checked}" aria-label="Rows written"></progress></p>
<form method="post" action="${here(call)}"><input type="hidden" name="_method" value="DELETE"><button class="danger">Call off</button></form>`;
  const page = browsablePage(
    {
      title: `Import: ${status.state}`,
      summary: far,
      method: call.method,
      address: here(call) + call.url.search,
      status: "200 OK",
      headers: { ...headers, "Content-Type": "application/json" },
      trail: trail(call, status.id, here(call)),
      links: [
        { name: "JSON", address: `${here(call)}?format=json` },
        { name: "List", address: `${String(json.list)}?format=api` },
      ],
      session: sessionForm(call.base, call.actor.username, call.url.pathname + call.url.search),
      forms: underWay ? [bar] : [],
    },
    json,
  );
  const again: Record<string, string> = underWay ? { Refresh: String(REFRESH) } : {};
  return respond(page, 200, MEDIA_TYPES.api, { ...headers, ...again, Vary: "Accept, Cookie" });
}

function told({ report }: ImportStatus): string {
  if (!report) return "";
  const { dry_run: dry, created, updated, unchanged, errors, locations_made: made } = report;
  const would = dry ? "would be " : "";
  const wrong =
    errors.length > 0 ? `${errors.length}${report.more_errors ? " or more" : ""} cells are wrong. ` : "";
  return `${wrong}${created} ${would}made, ${updated} ${would}changed, ${unchanged} stay as they are; ${made} locations ${would}made on the way.`;
}
