import type { Elysia } from "elysia";
import type { Answers } from "./respond.ts";
import type { HistoryAnswers } from "./respond-with-history.ts";
import { runBatch, runInTurn, unwrap } from "./respond-to-write.ts";
import {
  answered,
  FILE_SCHEMA,
  bytes,
  SUB_RESOURCE_PARAMETERS,
  optionsOf,
  refused,
  UPLOAD_FORM,
} from "./sub-resource-description.ts";
import type { Attachments } from "../records/attachments.ts";
import { SubResourceRecords } from "../records/sub-resources.ts";
import { content, detail, inPath, inQuery } from "./route-description.ts";
import { checkVersion, isKnown } from "./entity-tag.ts";
import { withIdempotencyKey } from "./idempotency.ts";
import { and } from "../model/condition.ts";
import type { Json } from "../model/field.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { changeableParent, readableParent, showSubResource } from "./sub-resource-request.ts";
import { readJson, readUpload } from "./request-body.ts";
import { SUB_RESOURCES } from "../resources/index.ts";
import { type Call, respond, ROOT } from "./response.ts";
import { addHistoryOf } from "./route-history.ts";
import type { Store } from "../records/store.ts";
import { DRY_RUN, MATCH, NONE_MATCH, ONCE, PREVIEW } from "./write-parameters.ts";
import { Problem } from "../../problem.ts";

const LIST_METHODS = "GET, POST, HEAD, OPTIONS";
const ONE_METHODS = "GET, PUT, PATCH, DELETE, HEAD, OPTIONS";
const HIDDEN = { parse: "none", detail: { hide: true } } as const;
const LIST_OPTIONS = optionsOf("attachments", "Files of a record.", ["multipart/form-data", "*/*"]);
const ONE_OPTIONS = optionsOf("attachments", "A file of a record.", ["multipart/form-data", "*/*"], {}, [
  "*/*",
]);
type Params = Record<string, string | null>;
type Context = { request: Request; params: Params };

/** What the routes of files need. */
export interface AttachmentsOptions {
  answers: Answers;
  store: Store;
  attachments: Attachments;
  history: HistoryAnswers;
  maxMessageBytes: number;
}

/** `attachments/`: a bare list, as LabID's client reads it; `attachments/<id>/`: the file. */
export function addAttachments(
  app: Elysia,
  { answers, store, attachments, history, maxMessageBytes }: AttachmentsOptions,
): void {
  const part = SUB_RESOURCES.attachment;
  const records = new SubResourceRecords(store);
  const showOne = (call: Call, rid: number, status: 200 | 201, allow: string): Response => {
    const source = { statements: store.statements, reader: store.reader, actor: call.actor };
    const shown = records.show(part, rid, source, call.base)!;
    return showSubResource(call, shown, allow, { status, version: Number(shown.version) });
  };

  const list = async ({ request }: Context): Promise<Response> => {
    const call = answers.begin(request, LIST_METHODS);
    if (call.method === "OPTIONS")
      return respond(LIST_OPTIONS, 200, MEDIA_TYPES.json, { Allow: LIST_METHODS });
    const { searchParams } = call.url;
    if (call.method !== "POST") {
      const { resource, id } = attachments.parentOf(searchParams);
      const host = readableParent(store, call, resource, id);
      const files = records.list(part, resource, host, call.base);
      const ascending = searchParams.get("ordering") === "created";
      return showSubResource(call, ascending ? files : files.toReversed(), LIST_METHODS);
    }
    const upload = await readUpload(request, maxMessageBytes);
    const { resource, id } = attachments.parentOf(new URLSearchParams([...upload.fields, ...searchParams]));
    const digest = new Bun.CryptoHasher("sha256").update(upload.bytes).digest("hex");
    return store.enqueue(() =>
      withIdempotencyKey(store, call, [upload.name, upload.type, digest], () =>
        runBatch(
          store,
          call,
          { kind: "create" },
          (writing) => {
            const rid = changeableParent(store, call, resource, id);
            return attachments.add(writing, { resource, rid }, upload, call.actor);
          },
          (rid) => showOne(call, rid, 201, LIST_METHODS),
        ),
      ),
    );
  };

  /** The bytes; never shown in place: what somebody uploaded is not to run under this address. */
  const showBytes = (call: Call, id: string): Response => {
    const { rid: row, parent: owner } = attachments.find(id);
    const host = readableParent(store, call, owner.resource, owner.id);
    const shown = records.show(part, row, host, call.base);
    if (!shown || (host.deletedFilter !== "all" && shown.deleted !== (host.deletedFilter === "deleted")))
      throw new Problem("not_found", "Not found.");
    const name = encodeURIComponent(String(shown.name)).replaceAll("'", "%27");
    const headers = {
      Allow: ONE_METHODS,
      ETag: `"${String(shown.version)}-${String(shown.sha256).slice(0, 16)}"`,
      "Content-Disposition": `attachment; filename*=UTF-8''${name}`,
    };
    if (isKnown(call, headers.ETag)) return respond(null, 304, "", headers);
    const stream = new Blob([attachments.bytes(shown)]).stream();
    return respond(stream, 200, String(shown.media_type), headers);
  };

  const one = async ({ request, params }: Context): Promise<Response> => {
    const call = answers.begin(request, ONE_METHODS);
    const id = params.id ?? "";
    if (call.method === "OPTIONS") return respond(ONE_OPTIONS, 200, MEDIA_TYPES.json, { Allow: ONE_METHODS });
    if (call.method === "GET" || call.method === "HEAD") return showBytes(call, id);
    const { rid, parent: owner } = attachments.find(id);
    changeableParent(store, call, owner.resource, owner.id);
    const upload = call.method === "PUT" ? await readUpload(request, maxMessageBytes) : undefined;
    const body: Json = call.method === "PATCH" ? unwrap(await readJson(request, maxMessageBytes)) : null;
    return runInTurn(
      store,
      call,
      call.method === "DELETE" ? "delete" : "update",
      (writing) => {
        changeableParent(store, call, owner.resource, owner.id);
        const { deleted, version } = writing.current(part, rid);
        if (deleted === 1) throw new Problem("not_found", "Not found.");
        checkVersion(call, Number(version));
        if (call.method === "DELETE") writing.markDeleted(part, rid, call.actor);
        else if (upload) attachments.replace(writing, rid, upload, call.actor);
        else attachments.rename(writing, rid, body, call.actor);
      },
      () =>
        call.method === "DELETE"
          ? respond(null, 204, "", { Allow: ONE_METHODS })
          : showOne(call, rid, 200, ONE_METHODS),
    );
  };

  const security = [{ token: [] }];
  const record = [
    inQuery("app", "App of the record, such as stocks."),
    inQuery("model", "Model of the record, such as consumable."),
    inQuery("object_id", "Identifier of the record."),
  ];
  const id = [inPath("id", "Identifier of the file.")];
  const path = `${ROOT}attachments/`;
  const file = { required: true, content: { ...UPLOAD_FORM, ...bytes("application/octet-stream") } };
  const named = { type: "object", required: ["name"], properties: { name: { type: "string" } } };
  const written = {
    ...answered(200, "As stored.", FILE_SCHEMA),
    ...refused(400, 401, 403, 404, 409, 412, 413, 415),
  };
  app
    .get(path, list, {
      detail: detail({
        summary: "Files of a record, by app, model and object_id",
        parameters: [
          ...record,
          inQuery("ordering", "created: the oldest first."),
          ...SUB_RESOURCE_PARAMETERS,
          ...NONE_MATCH,
        ],
        responses: {
          ...answered(200, "The newest first.", { type: "array", items: FILE_SCHEMA }),
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
        parameters: [...record, ...DRY_RUN, ...ONCE],
        requestBody: file,
        responses: {
          ...answered(201, "As stored.", FILE_SCHEMA),
          ...answered(200, "Of a dry run: what would change.", PREVIEW),
          ...refused(400, 401, 403, 404, 409, 413, 422),
        },
      }),
    })
    .get(`${path}:id/`, one, {
      detail: detail({
        summary: "A file",
        parameters: [...id, ...SUB_RESOURCE_PARAMETERS, ...NONE_MATCH],
        responses: {
          200: { description: "Its bytes, of the type that it was sent with.", content: bytes("*/*") },
          ...refused(400, 401, 404),
        },
      }),
    })
    .put(`${path}:id/`, one, {
      parse: "none",
      detail: detail({
        summary: "Another file in the place of one",
        description: "A new version; the bytes of the earlier ones stay.",
        security,
        parameters: [...id, ...DRY_RUN, ...MATCH],
        requestBody: file,
        responses: written,
      }),
    })
    .patch(`${path}:id/`, one, {
      parse: "none",
      detail: detail({
        summary: "Rename a file",
        security,
        parameters: [...id, ...DRY_RUN, ...MATCH],
        requestBody: { required: true, content: content(named) },
        responses: written,
      }),
    })
    .delete(`${path}:id/`, one, {
      parse: "none",
      detail: detail({
        summary: "Remove a file",
        description: "It stays in the database; lists with `deleted=true` show it.",
        security,
        parameters: [...id, ...DRY_RUN, ...MATCH],
        responses: {
          204: { description: "Done." },
          ...answered(200, "Of a dry run: what would change.", PREVIEW),
          ...refused(401, 403, 404, 409, 412),
        },
      }),
    });
  for (const end of ["", "/"]) {
    app.all(`${ROOT}attachments${end}`, list, HIDDEN);
    app.all(`${ROOT}attachments/:id${end}`, one, HIDDEN);
  }
  addHistoryOf(app, history, {
    paths: ["attachments/:id/"],
    parameters: id,
    what: "a file",
    restored: FILE_SCHEMA,
    subject: (params) => ({
      resource: part,
      find: (call) => {
        const { rid, parent: owner } = attachments.find(params.id ?? "");
        if (store.reader.find(owner.resource, owner.id, and(), call.actor) === undefined)
          throw new Problem("not_found", "Not found.");
        return rid;
      },
      show: (call, rid) => showOne(call, rid, 200, ONE_METHODS),
    }),
  });
}
