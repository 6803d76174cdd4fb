import type { RoutedResource } from "../resources/index.ts";
import { browsableProblem } from "./browsable.ts";
import { confirmForm, FROM_FORM } from "./browsable-forms.ts";
import { type Call, here } from "./call.ts";
import { readFields } from "./request-body.ts";
import { createRecords, deleteRecords, updateRecords, writeRecord } from "./write-records.ts";
import { parameterProblem } from "../model/filter.ts";
import { Problem } from "../../problem.ts";

/**
 * Requests of the forms on browsable pages. A POST with the fields `_method`, `_content` (JSON) and `id` becomes the
 * request that a program would send. The browser is then redirected, so that reloading repeats nothing. Programs get the
 * response itself, and may send the fields of a record in place of `_content`.
 */

/** The redirect of a filter form to the list without its empty fields; undefined for other requests. */
export function redirectOfFilterForm({ url }: Call): Response | undefined {
  if (!url.searchParams.has(FROM_FORM)) return undefined;
  const given = [...url.searchParams].filter(([name, value]) => value !== "" && name !== FROM_FORM);
  // Relative: a proxy may add a path prefix.
  return redirect(`?${new URLSearchParams(given).toString()}`);
}

/** A form that creates a record, or that changes or deletes the selected records. */
export const submitListForm = (call: Call, resource: RoutedResource): Promise<Response> =>
  submit(call, resource, (method, fields) => {
    const content = contentOf(fields);
    const ids = fields.getAll("id");
    if (method === "POST") return createRecords(withJson(call, "POST", content), resource);
    if (ids.length === 0) throw parameterProblem("id", "Choose at least one record.");
    if (method === "DELETE")
      return deleteRecords(withJson(call, "DELETE", JSON.stringify({ ids })), resource);
    // Adds the ids to the object; the result is parsed like any body.
    const members = content.trim().replace(/^\{/, "").trim();
    const body = `{"items": ${JSON.stringify(ids)}${members === "}" ? "" : ", "}${members}`;
    return updateRecords(withJson(call, "PATCH", body), resource);
  });

/** A form that changes, replaces or deletes a record. */
export const submitRecordForm = (call: Call, resource: RoutedResource, id: string): Promise<Response> =>
  submit(call, resource, (method, fields) => {
    if (method === "POST") throw notAForm();
    const content = method === "DELETE" ? "" : contentOf(fields);
    return writeRecord(withJson(call, method, content), resource, id);
  });

/** The JSON body: `_content`, or the other fields as the members of an object. */
function contentOf(fields: URLSearchParams): string {
  const content = fields.get("_content");
  if (content !== null) return content;
  const names = [...new Set(fields.keys())].filter((name) => name !== "id" && !name.startsWith("_"));
  const members = names.map((name) => {
    const values = fields.getAll(name);
    return [name, values.length === 1 ? values[0] : values] as const;
  });
  return members.length === 0 ? "" : JSON.stringify(Object.fromEntries(members));
}

async function submit(
  call: Call,
  resource: RoutedResource,
  send: (method: string, fields: URLSearchParams) => Promise<Response>,
): Promise<Response> {
  let fields = new URLSearchParams();
  const sendForm = async (): Promise<Response> => {
    fields = await readFields(call.request, call.maxBytes);
    const method = (fields.get("_method") ?? "POST").toUpperCase();
    if (!METHODS.includes(method)) throw notAForm();
    return send(method, fields);
  };
  if (!call.request.headers.get("accept")?.includes("text/html")) return sendForm();
  try {
    const response = await sendForm();
    // After deleting a record, its list.
    const isDelete = fields.get("_method")?.toUpperCase() === "DELETE";
    const next = response.headers.get("location") ?? (isDelete ? `${listOf(call, resource)}` : "");
    return redirect(`${next}?format=api`, { "Cache-Control": "no-store" });
  } catch (error) {
    const problem = Problem.from(error);
    if (problem.code === "internal") throw error;
    const confirm =
      problem.code === "sharing_unconfirmed"
        ? confirmForm(here(call), fields, String(problem.more.confirm))
        : undefined;
    return browsableProblem(problem, resource, call.request.url, confirm);
  }
}

const METHODS = ["POST", "PUT", "PATCH", "DELETE"];

const listOf = ({ base }: Call, { segment }: RoutedResource): string => `${base}${segment}/`;

const redirect = (url: string, headers: Record<string, string> = {}): Response =>
  new Response(null, { status: 303, headers: { Location: url, ...headers } });

const notAForm = (): Problem =>
  new Problem("method_not_allowed", "Must be POST, PUT, PATCH or DELETE.", {
    allow: METHODS.join(", "),
  });

function withJson(call: Call, method: string, body: string): Call {
  const headers = new Headers(call.request.headers);
  headers.set("Content-Type", "application/json");
  headers.set("Accept", "application/json");
  headers.delete("Content-Length");
  const request = new Request(call.url, { method, headers, ...(body === "" ? {} : { body }) });
  return { ...call, method, request };
}
