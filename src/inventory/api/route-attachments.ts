import { Type } from "typebox";
import { KINDS } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import type { PageInfo } from "../model/page.ts";
import { isGuarded } from "../model/resource.ts";
import { Attachments, toContent, type FileParent, type Upload } from "../records/attachments.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import type { Store } from "../records/store.ts";
import { exampleId } from "../model/example.ts";
import { inQuery } from "../model/schema.ts";
import { RESOURCES, type RoutedResource } from "../resources/index.ts";
import { attachment, FALSE_FLAGS } from "../resources/attachment.ts";
import { consumable } from "../resources/consumable.ts";
import { writeBatch } from "./batch.ts";
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
import { isKnown } from "./entity-tag.ts";
import type { Operation, Path } from "./operation.ts";
import type { Api } from "./api.ts";
import { notModified, showValue } from "./render.ts";
import { readUpload } from "./request-body.ts";
import { addHistoryRoutes } from "./route-history.ts";
import {
  checkCurrent,
  sendList,
  matchesFilter,
  presentRecords,
  readableParent,
  openRecords,
  requireVisible,
  shownSchema,
} from "./route-sub-resources.ts";
import { binary, content, page as htmlPage, pageSchema, TEXT, UPLOAD } from "./schema.ts";

const FILE = shownSchema(attachment);
const [APP, MODEL] = consumable.model.split(".");
const PARENT = [
  inQuery("app", "App of the record.", Type.String({ examples: [APP] })),
  inQuery("model", "Model of the record.", Type.String({ examples: [MODEL] })),
  inQuery("object_id", "Id of the record.", Type.String({ examples: [exampleId(consumable)] })),
];
const SENT = { ...UPLOAD, ...binary("application/octet-stream") };

const PARSES = ["multipart/form-data", "*/*"];

const LIST = "attachments/";
const FILE_PATH = `${LIST}:id/`;

/**
 * `<list>/<id>/attachments/`: the files of a record; `attachments/`: the same for LabID's client, which reads a bare list;
 * `attachments/<id>/`: the file itself.
 */
export function addAttachments(api: Api, store: Store): void {
  const files = new Attachments(store.statements, RESOURCES.filter(isGuarded));
  for (const parent of RESOURCES.filter(isGuarded)) addFiles(api, files, parent);
  addList(api, files);
  addDownload(api, files);
  addWrites(api, files);
  addOptions(api, LIST, "application/json");
  addOptions(api, FILE_PATH, "*/*");
  addHistoryRoutes(api, {
    name: "a file",
    resource: attachment,
    path: FILE_PATH,
    restored: () => content(FILE),
    find(call, { id }) {
      const { rid, parent } = files.find(id);
      findAny(call, parent.resource, parent.id);
      return rid;
    },
    show: (call, rid) => showFile(call, rid),
  });
}

/** Metadata in response to OPTIONS. */
const addOptions = (api: Api, path: Path, type: string): void =>
  void api.add("OPTIONS", path, {
    run: () =>
      respondJson({
        name: "attachments",
        description: "Files of a record.",
        renders: [type],
        parses: PARSES,
      }),
  });

function showFile(call: Call, rid: number, status: 200 | 201 = 200): Response {
  const shown = openRecords(call).show(attachment, rid, presentRecords(call), call.base)!;
  return showValue(call, shown, { status, version: Number(shown.version) });
}

/** The files of the records of one list. */
function addFiles(api: Api, files: Attachments, parent: RoutedResource): void {
  const path = [parent, `:id/${attachment.segment}/`] as const;
  api.add("GET", path, {
    summary: "List files of a record",
    description: "Newest first.",
    accepts: ["filters", "paging", "past", "page", "noneMatch"],
    returns: { ...content(pageSchema(FILE)), ...htmlPage() },
    run({ call, params }) {
      const { page, results, headers } = sendList(call, attachment, parent, params.id);
      return showValue(call, { ...page, results }, { headers });
    },
  });
  api.add("POST", path, {
    summary: "Add a file to a record",
    ...ADD,
    async run({ call, params }) {
      const upload = await readFile(call);
      return addFile(call, files, { resource: parent, id: params.id }, upload);
    },
  });
  addOptions(api, path, "application/json");
}

function addList(api: Api, files: Attachments): void {
  api.add("GET", LIST, {
    summary: "List files by app and model",
    description:
      "For LabID's client: the files of the record that `app`, `model` and `object_id` name, as a bare list, newest " +
      "first. `X-Total-Count` is the number of matching files, and `Link` names the neighbouring pages.",
    parameters: PARENT,
    accepts: ["filters", "paging", "past", "page", "noneMatch"],
    returns: { ...content(Type.Array(FILE, { $id: "Attachments" })), ...htmlPage() },
    run({ call }) {
      const parameters = ownParameters(call.url.searchParams);
      const { resource, id } = files.findParent(parameters);
      for (const { name } of PARENT) parameters.delete(name);
      const { page, results, headers } = sendList(call, attachment, resource, id, parameters);
      // The list is bare, so the header has the number that is otherwise in the envelope.
      return showValue(call, results, { headers: { ...headers, ...pageHeaders(page) } });
    },
  });
  api.add("POST", LIST, {
    summary: "Add a file by app and model",
    description: "`app`, `model` and `object_id` may also be fields of the form.",
    parameters: PARENT,
    ...ADD,
    async run({ call }) {
      const upload = await readFile(call);
      const named = new URLSearchParams([...upload.fields, ...call.url.searchParams]);
      return addFile(call, files, files.findParent(named), upload);
    },
  });
}

/** The parameters of LabID's client by the names of the fields. No file of labd has one of the flags. */
function ownParameters(given: URLSearchParams): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of given) {
    const isFlag = (FALSE_FLAGS as readonly string[]).includes(name);
    const flag = isFlag ? KINDS.flag.parse(value) : undefined;
    if (isFlag && flag === undefined) throw parameterProblem(name, `Expected ${KINDS.flag.expected}.`);
    if (flag === 1) parameters.append("query_expression", NONE);
    if (!isFlag) parameters.append(name.replace(/^mimetype(?=$|__)/, "media_type"), value);
  }
  return parameters;
}

const NONE = JSON.stringify({ category: "size", operator: "<", value: 0 });

const ADD = {
  accepts: ["dryRun"],
  sends: SENT,
  status: 201,
  returns: content(FILE),
} satisfies Partial<Operation>;

async function readFile({ request, maxBytes }: Call) {
  const { bytes, ...upload } = await readUpload(request, maxBytes);
  return { ...upload, content: toContent(bytes) };
}

function addFile(
  call: Call,
  files: Attachments,
  { resource, id }: FileParent,
  upload: Upload,
): Promise<Response> {
  return writeBatch(call, [upload.name, upload.type, upload.content.sha256], {
    kind: "create",
    work: (writer) =>
      files.add(writer, { resource, rid: findChangeable(call, resource, id) }, upload, call.actor),
    respond: (rid) => showFile(call, rid, 201),
  });
}

/** The links of a bare list to the rest of the whole, as GitHub and others give them (RFC 8288). */
function pageHeaders({ previous, next, total }: PageInfo): Record<string, string> {
  const links = [previous && `<${previous}>; rel="prev"`, next && `<${next}>; rel="next"`].filter(Boolean);
  return { "X-Total-Count": String(total), ...(links.length === 0 ? {} : { Link: links.join(", ") }) };
}

function addDownload(api: Api, files: Attachments): void {
  api.add("GET", FILE_PATH, {
    summary: "Download a file",
    description: "Always sent as `application/octet-stream`; `media_type` in the list is that of the upload.",
    accepts: ["past", "noneMatch"],
    returns: binary("*/*"),
    run({ call, params }) {
      const { rid, parent } = files.find(params.id);
      const source = readableParent(call, parent.resource, parent.id);
      requireVisible(call, attachment, { resource: parent.resource, rid: source.rid }, rid);
      const shown = openRecords(call).show(attachment, rid, source, call.base);
      if (!shown || !matchesFilter(shown, source)) throw notFound();
      const name = encodeURIComponent(String(shown.name)).replaceAll("'", "%27");
      const headers = {
        ETag: `"${String(shown.version)}-${String(shown.sha256).slice(0, 16)}"`,
        // Uploaded content must not run under this origin: it is no page, no script, and in a sandbox.
        "Content-Disposition": `attachment; filename*=UTF-8''${name}`,
        "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
      };
      if (isKnown(call, headers.ETag)) return notModified(headers);
      return respond(new Blob([files.bytes(shown)]).stream(), 200, "application/octet-stream", headers);
    },
  });
}

type Write = (writer: RecordWriter, rid: number) => void;

function addWrites(api: Api, files: Attachments): void {
  /** `read` reads the body before the transaction and returns the write. */
  const addWrite = (
    method: "PUT" | "PATCH" | "DELETE",
    about: Partial<Operation>,
    read: (call: Call) => Promise<Write>,
  ): unknown =>
    api.add(method, FILE_PATH, {
      ...about,
      accepts: ["dryRun", "match"],
      async run({ call, params }) {
        const { rid, parent } = files.find(params.id);
        findChangeable(call, parent.resource, parent.id);
        const write = await read(call);
        return writeBatch(call, null, {
          kind: method === "DELETE" ? "delete" : "update",
          work(writer) {
            findChangeable(call, parent.resource, parent.id);
            checkCurrent(call, writer, attachment, rid);
            write(writer, rid);
          },
          respond: () => (method === "DELETE" ? noContent() : showFile(call, rid)),
        });
      },
    });
  const [summary, description] = [
    "Replace a file",
    "Stores a new version; the contents of earlier versions are kept.",
  ];
  const returns = content(FILE);
  addWrite("PUT", { summary, description, sends: SENT, returns }, async (call) => {
    const upload = await readFile(call);
    return (writer, rid) => files.replace(writer, rid, upload, call.actor);
  });
  const named = content(Type.Object({ name: TEXT }));
  addWrite("PATCH", { summary: "Rename a file", sends: named, returns }, async (call) => {
    const body = await readBody(call);
    return (writer, rid) => files.rename(writer, rid, body, call.actor);
  });
  const stays = "It stays in the database; lists with `deleted=true` show it.";
  addWrite("DELETE", { summary: "Delete a file", description: stays }, async ({ actor }) => {
    return (writer, rid) => writer.markDeleted(attachment, rid, actor);
  });
}
