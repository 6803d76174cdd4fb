import type { Json } from "../model/field.ts";
import { type Call, here } from "./call.ts";
import { respondPage } from "./render.ts";
import { DECLARED, type RoutedResource } from "../resources/index.ts";
import type { ImportStatus } from "../imports/imports.ts";
import { type Html, markup } from "../../platform/html.ts";

/** Pages for importing files, without scripts. */

export function importJson(
  { base }: Call,
  { resource, id, ...status }: ImportStatus,
): { [name: string]: Json } {
  const list = DECLARED.get(resource)?.segment ?? resource;
  const urls = { id, url: `${base}imports/${id}/`, list: `${base}${list}/` };
  return { ...urls, ...status } as unknown as { [name: string]: Json };
}

export function uploadPage(call: Call, { segment }: RoutedResource): Response {
  const url = here(call);
  const button = (dryRun: string, name: string): Html =>
    markup`<button formaction="${url}?format=api${dryRun}">${name}</button>`;
  const form = markup`<form method="post" enctype="multipart/form-data" action="${url}?format=api">
<p><label for="file">CSV or XLSX file whose first row names the fields, or an archive (.eln)</label><input id="file" name="file" type="file" accept=".csv,.xlsx,.eln" required></p>
${button("&dry_run=1", "Dry run")}${button("", "Import")}</form>`;
  return respondPage(call, JSON.stringify({ template: url }), {
    title: `Import into ${segment}`,
    summary: "All rows of a file are imported, or none. A dry run only reports what would happen.",
    headers: {},
    trail: [importsOf(call), { name: segment, url: `${call.base}${segment}/?format=api` }],
    links: [{ name: "Template (XLSX)", url }],
    forms: call.actor.user === null ? [] : [form],
  });
}

const importsOf = ({ base }: Call) => ({ name: "imports", url: `${base}imports/?format=api` });

export function importPage(call: Call, status: ImportStatus, headers: Record<string, string>): Response {
  const json = importJson(call, status);
  const { rows, rows_checked: checked, ended } = status;
  const form = markup`<p><progress max="${rows ?? 1}" value="${rows === null ? 0 : checked}" aria-label="Rows written"></progress></p>
<form method="post" action="${here(call)}"><input type="hidden" name="_method" value="DELETE"><button class="danger">Cancel</button></form>`;
  return respondPage(call, JSON.stringify(json), {
    title: `Import: ${status.state}`,
    summary: progressOf(status),
    // In seconds.
    headers: { ...headers, ...(ended === null ? { Refresh: "1" } : {}) },
    trail: [importsOf(call), { name: status.id, url: here(call) }],
    links: [
      { name: "JSON", url: `${here(call)}?format=json` },
      { name: "List", url: `${String(json.list)}?format=api` },
    ],
    forms: ended === null ? [form] : [],
  });
}

function progressOf({ state, rows, ended, message, report, ...done }: ImportStatus): string {
  const number = (count: number | null): string => (count ?? 0).toLocaleString("en");
  if (state === "writing")
    return `${number(done.rows_checked)} of ${number(rows)} rows written. They take effect when all are written.`;
  if (state === "reading") return `${number(done.rows_read)} rows read.`;
  if (ended === null) return "Waiting for other imports.";
  if (message !== null || !report) return message ?? "";
  const { dry_run: isDryRun, created, updated, unchanged, errors, locations_made: locations } = report;
  const would = isDryRun ? "would be " : "";
  const invalid = `${errors.length}${report.more_errors ? " or more" : ""} cells are invalid. `;
  return `${errors.length > 0 ? invalid : ""}${created} ${would}created, ${updated} ${would}updated, ${unchanged} unchanged; ${locations} locations ${would}created for paths.`;
}
