import { Type } from "typebox";
import { isGuarded } from "../model/resource.ts";
import { Attachments } from "../records/attachments.ts";
import { SubResourceRecords } from "../records/sub-resources.ts";
import type { Store } from "../records/store.ts";
import { RESOURCES } from "../resources/index.ts";
import { attachment } from "../resources/attachment.ts";
import { writeBatch, writeOnce } from "./batch.ts";
import {
  type Call,
  findAny,
  findChangeable,
  noContent,
  notFound,
  readBody,
  respond,
  respondJson,
} from "./call.ts";
import { checkVersion, isKnown } from "./entity-tag.ts";
import { type Api, binary, content, inQuery, UPLOAD } from "./operation-plugin.ts";
import { notModified, showValue } from "./render.ts";
import { readUpload } from "./request-body.ts";
import { addHistoryOf } from "./route-history.ts";
import { isWanted, presentOf, readableParent, shownSchema } from "./route-sub-resources.ts";

const FILE = shownSchema(attachment);
const PARENT = [
  inQuery("app", "App of the record, such as stocks."),
  inQuery("model", "Model of the record, such as consumable."),
  inQuery("object_id", "Id of the record."),
];
const SENT = { ...UPLOAD, ...binary("application/octet-stream") };

/** `attachments/`: a bare list, as LabID's client reads it; `attachments/<id>/`: the file itself. */
export function addAttachments(api: Api, store: Store): void {
  const files = new Attachments(store.statements, RESOURCES.filter(isGuarded));
  const records = new SubResourceRecords(store);
  const showFile = (call: Call, rid: number, status: 200 | 201 = 200): Response => {
    const shown = records.show(attachment, rid, presentOf(call), call.base)!;
    return showValue(call, shown, { status, version: Number(shown.version) });
  };

  const list = "attachments/";
  api.add("GET", list, {
    summary: "List the files of a record",
    description: "The newest first. The record is named by `app`, `model` and `object_id`.",
    parameters: [...PARENT, inQuery("ordering", "created: the oldest first.")],
    accepts: ["past", "noneMatch"],
    returns: content(Type.Array(FILE)),
    run({ call }) {
      const { searchParams } = call.url;
      const { resource, id } = files.parentOf(searchParams);
      const oldestFirst = records.list(attachment, resource, readableParent(call, resource, id), call.base);
      return showValue(
        call,
        searchParams.get("ordering") === "created" ? oldestFirst : oldestFirst.toReversed(),
      );
    },
  });
  api.add("POST", list, {
    summary: "Add a file to a record",
    description: "`app`, `model` and `object_id` may also be fields of the form.",
    parameters: PARENT,
    accepts: ["dryRun", "once"],
    sends: SENT,
    status: 201,
    returns: content(FILE),
    async run({ call }) {
      const upload = await readUpload(call.request, call.maxBytes);
      const named = new URLSearchParams([...upload.fields, ...call.url.searchParams]);
      const { resource, id } = files.parentOf(named);
      const digest = new Bun.CryptoHasher("sha256").update(upload.bytes).digest("hex");
      return writeOnce(call, [upload.name, upload.type, digest], {
        kind: "create",
        work: (writer) =>
          files.add(writer, { resource, rid: findChangeable(call, resource, id) }, upload, call.actor),
        respond: (rid) => showFile(call, rid, 201),
      });
    },
  });

  const one = `${list}:id/`;
  api.add("GET", one, {
    summary: "Download a file",
    accepts: ["past", "noneMatch"],
    returns: binary("*/*"),
    run({ call, params }) {
      const { rid, parent } = files.find(params.id);
      const source = readableParent(call, parent.resource, parent.id);
      const shown = records.show(attachment, rid, source, call.base);
      if (!shown || !isWanted(shown, source)) throw notFound();
      const name = encodeURIComponent(String(shown.name)).replaceAll("'", "%27");
      const headers = {
        ETag: `"${String(shown.version)}-${String(shown.sha256).slice(0, 16)}"`,
        // Never inline: uploaded content must not run under this origin.
        "Content-Disposition": `attachment; filename*=UTF-8''${name}`,
      };
      if (isKnown(call, headers.ETag)) return notModified(headers);
      return respond(new Blob([files.bytes(shown)]).stream(), 200, String(shown.media_type), headers);
    },
  });
  const addWrite = (
    method: "PUT" | "PATCH" | "DELETE",
    description: { summary: string; description?: string; sends?: typeof SENT },
  ): void =>
    api.add(method, one, {
      ...description,
      accepts: ["dryRun", "match"],
      ...(method === "DELETE" ? {} : { returns: content(FILE) }),
      async run({ call, params }) {
        const { rid, parent } = files.find(params.id);
        findChangeable(call, parent.resource, parent.id);
        const upload = method === "PUT" ? await readUpload(call.request, call.maxBytes) : undefined;
        const body = method === "PATCH" ? await readBody(call) : null;
        return writeBatch(call, {
          kind: method === "DELETE" ? "delete" : "update",
          work(writer) {
            findChangeable(call, parent.resource, parent.id);
            const { deleted, version } = writer.current(attachment, rid);
            if (deleted === 1) throw notFound();
            checkVersion(call, Number(version));
            if (upload) files.replace(writer, rid, upload, call.actor);
            else if (method === "PATCH") files.rename(writer, rid, body, call.actor);
            else writer.markDeleted(attachment, rid, call.actor);
          },
          respond: () => (method === "DELETE" ? noContent() : showFile(call, rid)),
        });
      },
    });
  addWrite("PUT", {
    summary: "Replace a file",
    description: "Stores a new version; the bytes of earlier versions stay.",
    sends: SENT,
  });
  addWrite("PATCH", { summary: "Rename a file", sends: content(Type.Object({ name: Type.String() })) });
  addWrite("DELETE", {
    summary: "Delete a file",
    description: "It stays in the database; lists with `deleted=true` show it.",
  });

  const metadata = { name: "attachments", parses: ["multipart/form-data", "*/*"] };
  for (const [path, description, type] of [
    [list, "Files of a record.", "application/json"],
    [one, "A file of a record.", "*/*"],
  ])
    api.add("OPTIONS", path, {
      run() {
        const { name, parses } = metadata;
        return respondJson({ name, description, renders: [type], parses });
      },
    });
  addHistoryOf(api, {
    name: "a file",
    resource: attachment,
    path: one,
    restored: FILE,
    find(call, { id }) {
      const { rid, parent } = files.find(id);
      findAny(call, parent.resource, parent.id);
      return rid;
    },
    show: (call, rid) => showFile(call, rid),
  });
}
