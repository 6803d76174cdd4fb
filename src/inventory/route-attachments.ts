import type { DocumentDecoration, Elysia } from "elysia";
import type { Answers } from "./answer.ts";
import {
  answered,
  ATTACHED_FILE,
  bytes,
  inPath,
  inQuery,
  optionsOf,
  refused,
  UPLOAD_FORM,
} from "./attached-description.ts";
import type { Attachments } from "./attachments.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { readUpload } from "./request-body.ts";
import { respond, ROOT } from "./response.ts";

const LIST_METHODS = "GET, POST, HEAD, OPTIONS";
const ONE_METHODS = "GET, DELETE, HEAD, OPTIONS";
const HIDDEN = { parse: "none", detail: { hide: true } } as const;
const LIST_OPTIONS = optionsOf("attachments", "Files of a record.", ["multipart/form-data", "*/*"]);
const ONE_OPTIONS = optionsOf("attachments", "A file of a record.", [], {}, ["*/*"]);
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
    if (request.method === "OPTIONS") return respond(LIST_OPTIONS, 200, MEDIA_TYPES.json, allow);
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
    if (request.method === "OPTIONS") return respond(ONE_OPTIONS, 200, MEDIA_TYPES.json, allow);
    if (request.method === "DELETE") {
      attachments.remove(params.id ?? "", call.actor);
      return respond(null, 204, "", allow);
    }
    const { name, type, content } = attachments.read(params.id ?? "", call.actor);
    // Never shown in place: what somebody uploaded is not to run under this address.
    const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(name).replaceAll("'", "%27")}`;
    return respond(new Blob([content]).stream(), 200, type, { ...allow, "Content-Disposition": disposition });
  };
  const detail = (value: object): DocumentDecoration =>
    ({ tags: ["inventory"], ...value }) as DocumentDecoration;
  const security = [{ token: [] }];
  const record = [
    inQuery("app", "App of the record, such as stocks."),
    inQuery("model", "Model of the record, such as consumable."),
    inQuery("object_id", "Identifier of the record."),
  ];
  const id = [inPath("id", "Identifier of the file.")];
  const path = `${ROOT}attachments/`;
  app
    .get(path, list, {
      detail: detail({
        summary: "Files of a record, by app, model and object_id",
        parameters: [...record, inQuery("ordering", "created: the oldest first.")],
        responses: {
          ...answered(200, "The newest first.", { type: "array", items: ATTACHED_FILE }),
          ...refused(400, 401, 404),
        },
      }),
    })
    .post(path, list, {
      parse: "none",
      detail: detail({
        summary: "Add a file to a record",
        description: "app, model and object_id may be fields of the form too.",
        security,
        parameters: record,
        requestBody: { required: true, content: { ...UPLOAD_FORM, ...bytes("application/octet-stream") } },
        responses: { ...answered(201, "As stored.", ATTACHED_FILE), ...refused(400, 401, 403, 404, 413) },
      }),
    })
    .get(`${path}:id/`, one, {
      detail: detail({
        summary: "A file",
        parameters: id,
        responses: {
          200: { description: "Its bytes, of the type that it was sent with.", content: bytes("*/*") },
          ...refused(401, 404),
        },
      }),
    })
    .delete(`${path}:id/`, one, {
      detail: detail({
        summary: "Remove a file",
        security,
        parameters: id,
        responses: { 204: { description: "Done." }, ...refused(401, 403, 404) },
      }),
    });
  for (const end of ["", "/"]) {
    app.all(`${ROOT}attachments${end}`, list, HIDDEN);
    app.all(`${ROOT}attachments/:id${end}`, one, HIDDEN);
  }
}
