import { Type } from "typebox";
import { KINDS } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import type { PageInfo } from "../model/page.ts";
import { isGuarded } from "../model/resource.ts";
import { Attachments, toContent, type FileParent, type Upload } from "../records/attachments.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import type { Store } from "../records/store.ts";
import { exampleId } from "../model/example.ts";
import { inQuery, type Parameter } from "../model/list-parameters.ts";
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
import { inList } from "./mount-operations.ts";
import { DRY_RUN, FILTERS, IF_MATCH, IF_NONE_MATCH, PAGE_FORMAT, PAGING, PAST } from "./parameters.ts";
import { operation, type Parameters } from "../../platform/operation.ts";
import { notModifiedResponse, showValue } from "./render.ts";
import { readUpload } from "./request-body.ts";
import { historyOperationsBelow } from "./route-history.ts";
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
import { binary, content, HTML, pageSchema, TEXT, UPLOAD } from "./schema.ts";

const FILE = shownSchema(attachment);
const [APP, MODEL] = consumable.model.split(".");
/** The record by app and model, as LabID's client names it. */
interface NamedParent {
  app: string;
  model: string;
  object_id: string;
}
const PARENT: readonly Parameter[] & Parameters<NamedParent> = [
  inQuery("app", "App of the record.", Type.String({ examples: [APP] })),
  inQuery("model", "Model of the record.", Type.String({ examples: [MODEL] })),
  inQuery("object_id", "Id of the record.", Type.String({ examples: [exampleId(consumable)] })),
];
const UPLOAD_BODIES = { ...UPLOAD, ...binary("application/octet-stream") };

const ADD = {
  access: "signedIn",
  sends: UPLOAD_BODIES,
  status: 201,
  returns: FILE,
} as const;

const PARSED_TYPES = ["multipart/form-data", "*/*"];

/**
 * `<list>/<id>/attachments/`: the files of a record; `attachments/`: the same for LabID's client, which reads a bare list;
 * `attachments/<id>/`: the file itself.
 */
export function attachmentOperations(store: Store) {
  const files = new Attachments(store.statements, RESOURCES.filter(isGuarded));
  return [
    ...RESOURCES.filter(isGuarded).flatMap((parent) => inList(parent, operationsBelow(parent, files))),
    ...listOperations(files),
    downloadOperation(files),
    ...writeOperations(files),
    describeFiles("/api/v2/attachments/", "application/json"),
    describeFiles("/api/v2/attachments/:id/", "*/*"),
    ...historyOperationsBelow("/api/v2/attachments/:id/", {
      name: "a file",
      resource: attachment,
      restored: FILE,
      find(call, { id }) {
        const { rid, parent } = files.find(id);
        findAny(call, parent.resource, parent.id);
        return rid;
      },
      show: (call, rid) => showFile(call, rid),
    }),
  ];
}

/** Metadata in response to OPTIONS. */
const describeFiles = <const Path extends `/${string}`>(path: Path, type: string) =>
  operation(`OPTIONS ${path}`, {
    access: "anyone",
    summary: "Describe the files of a record",
    hidden: true,
    run: () =>
      respondJson({
        name: "attachments",
        description: "Files of a record.",
        renders: [type],
        parses: PARSED_TYPES,
      }),
  });

function showFile(call: Call, rid: number, status: 200 | 201 = 200): Response {
  const shown = openRecords(call).show(attachment, rid, presentRecords(call), call.base)!;
  return showValue(call, shown, { status, version: Number(shown.version) });
}

/** The files of the records of one list. */
const operationsBelow = (parent: RoutedResource, files: Attachments) => [
  operation("GET /api/v2/:list/:id/attachments/", {
    access: "anyone",
    summary: "List files of a record",
    description: "Newest first.",
    parameters: [FILTERS, PAGING, PAST, PAGE_FORMAT, IF_NONE_MATCH],
    returns: pageSchema(FILE),
    formats: HTML,
    run({ params }, call: Call) {
      const { page, results, headers } = sendList(call, attachment, parent, params.id);
      return showValue(call, { ...page, results }, { headers });
    },
  }),
  operation("POST /api/v2/:list/:id/attachments/", {
    summary: "Add a file to a record",
    ...ADD,
    parameters: [DRY_RUN],
    async run({ params }, call: Call) {
      const upload = await readFile(call);
      return addFile(call, files, { resource: parent, id: params.id }, upload);
    },
  }),
  describeFiles("/api/v2/:list/:id/attachments/", "application/json"),
];

const listOperations = (files: Attachments) => [
  operation("GET /api/v2/attachments/", {
    access: "anyone",
    summary: "List files by app and model",
    description:
      "For LabID's client: the files of the record that `app`, `model` and `object_id` name, as a bare list, newest " +
      "first. `X-Total-Count` is the number of matching files, and `Link` names the neighbouring pages.",
    parameters: [PARENT, FILTERS, PAGING, PAST, PAGE_FORMAT, IF_NONE_MATCH],
    returns: Type.Array(FILE, { $id: "Attachments" }),
    formats: HTML,
    run(_, call: Call) {
      const parameters = readParameters(call.url.searchParams);
      const { resource, id } = files.findParent(parameters);
      for (const { name } of PARENT) parameters.delete(name);
      const { page, results, headers } = sendList(call, attachment, resource, id, parameters);
      // The list is bare, so the header has the number that is otherwise in the envelope.
      return showValue(call, results, { headers: { ...headers, ...pageHeaders(page) } });
    },
  }),
  operation("POST /api/v2/attachments/", {
    summary: "Add a file by app and model",
    description: "`app`, `model` and `object_id` may also be fields of the form.",
    ...ADD,
    parameters: [PARENT, DRY_RUN],
    async run(_, call: Call) {
      const upload = await readFile(call);
      const named = new URLSearchParams([...upload.fields, ...call.url.searchParams]);
      return addFile(call, files, files.findParent(named), upload);
    },
  }),
];

/** The parameters of LabID's client by the names of the fields. No file of labd has one of the flags. */
function readParameters(given: URLSearchParams): URLSearchParams {
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

const downloadOperation = (files: Attachments) =>
  operation("GET /api/v2/attachments/:id/", {
    access: "anyone",
    summary: "Download a file",
    description: "Always sent as `application/octet-stream`; `media_type` in the list is that of the upload.",
    parameters: [PAST, IF_NONE_MATCH],
    formats: binary("*/*"),
    run({ params }, call: Call) {
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
      if (isKnown(call, headers.ETag)) return notModifiedResponse(headers);
      return respond(new Blob([files.bytes(shown)]).stream(), 200, "application/octet-stream", headers);
    },
  });

type Write = (writer: RecordWriter, rid: number) => void;

/** Writes a file; `read` reads the body before the transaction and returns the write. */
async function writeFile(
  call: Call,
  files: Attachments,
  id: string,
  read: () => Promise<Write>,
): Promise<Response> {
  const { rid, parent } = files.find(id);
  findChangeable(call, parent.resource, parent.id);
  const write = await read();
  const isDeletion = call.method === "DELETE";
  return writeBatch(call, null, {
    kind: isDeletion ? "delete" : "update",
    work(writer) {
      findChangeable(call, parent.resource, parent.id);
      checkCurrent(call, writer, attachment, rid);
      write(writer, rid);
    },
    respond: () => (isDeletion ? noContent() : showFile(call, rid)),
  });
}

const ofOne = { access: "signedIn", parameters: [DRY_RUN, IF_MATCH] } as const;

const writeOperations = (files: Attachments) => [
  operation("PUT /api/v2/attachments/:id/", {
    ...ofOne,
    summary: "Replace a file",
    description: "Stores a new version; the contents of earlier versions are kept.",
    sends: UPLOAD_BODIES,
    returns: FILE,
    run: ({ params }, call: Call) =>
      writeFile(call, files, params.id, async () => {
        const upload = await readFile(call);
        return (writer, rid) => files.replace(writer, rid, upload, call.actor);
      }),
  }),
  operation("PATCH /api/v2/attachments/:id/", {
    ...ofOne,
    summary: "Rename a file",
    sends: content(Type.Object({ name: TEXT })),
    returns: FILE,
    run: ({ params }, call: Call) =>
      writeFile(call, files, params.id, async () => {
        const body = await readBody(call);
        return (writer, rid) => files.rename(writer, rid, body, call.actor);
      }),
  }),
  operation("DELETE /api/v2/attachments/:id/", {
    ...ofOne,
    summary: "Delete a file",
    description: "The file stays in the database; lists with `deleted=true` show it.",
    run: ({ params }, call: Call) =>
      writeFile(call, files, params.id, async () => (writer, rid) => {
        writer.markDeleted(attachment, rid, call.actor);
      }),
  }),
];
