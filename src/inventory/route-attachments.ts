import type { DocumentDecoration, Elysia } from "elysia";
import type { Answers } from "./answer.ts";
import type { Attachments } from "./attachments.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { readUpload } from "./request-body.ts";
import { respond, ROOT } from "./response.ts";

const LIST_METHODS = "GET, POST, HEAD, OPTIONS";
const ONE_METHODS = "GET, DELETE, HEAD, OPTIONS";
const HIDDEN = { parse: "none", detail: { hide: true } } as const;
type Context = { request: Request; params: Record<string, string | null> };

/** `attachments/`: a bare list, as LabID's client reads it; `attachments/<id>/`: the file. */
export function addAttachments(
  app: Elysia,
  answers: Answers,
  attachments: Attachments,
  maxBytes: number,
): void {
  const list = async ({ request }: Context): Promise<Response> => {
    const call = answers.begin(request, LIST_METHODS);
    const allow = { Allow: LIST_METHODS };
    if (request.method === "OPTIONS") return respond("{}", 200, MEDIA_TYPES.json, allow);
    const { searchParams } = call.url;
    if (request.method !== "POST")
      return respond(
        JSON.stringify(attachments.list(searchParams, call.base, call.actor)),
        200,
        MEDIA_TYPES.json,
        allow,
      );
    const upload = await readUpload(request, maxBytes);
    const named = new URLSearchParams([...upload.fields, ...searchParams]);
    const made = attachments.add(named, upload, call.base, call.actor);
    return respond(JSON.stringify(made), 201, MEDIA_TYPES.json, allow);
  };
  const one = ({ request, params }: Context): Response => {
    const call = answers.begin(request, ONE_METHODS);
    const allow = { Allow: ONE_METHODS };
    if (request.method === "OPTIONS") return respond("{}", 200, MEDIA_TYPES.json, allow);
    if (request.method === "DELETE") {
      attachments.remove(params.id ?? "", call.actor);
      return respond(null, 204, "", allow);
    }
    const { name, type, content } = attachments.read(params.id ?? "", call.actor);
    // Never shown in place: what somebody uploaded is not to run under this address.
    const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(name).replaceAll("'", "%27")}`;
    return respond(new Blob([content]).stream(), 200, type, { ...allow, "Content-Disposition": disposition });
  };
  const detail = (summary: string): DocumentDecoration => ({
    summary,
    tags: ["inventory"],
    responses: { 200: { description: "As asked." }, 404: { description: "No such record or file." } },
  });
  const path = `${ROOT}attachments/`;
  app
    .get(path, list, { detail: detail("Files of a record, by app, model and object_id") })
    .post(path, list, { parse: "none", detail: detail("Add a file to a record") })
    .get(`${path}:id/`, one, { detail: detail("A file") })
    .delete(`${path}:id/`, one, { detail: detail("Remove a file") });
  for (const end of ["", "/"]) {
    app.all(`${ROOT}attachments${end}`, list, HIDDEN);
    app.all(`${ROOT}attachments/:id${end}`, one, HIDDEN);
  }
}
