import { Type } from "typebox";
import { type JsonObject, KINDS } from "../model/field.ts";
import { recordAnswer, recordsAnswer } from "../model/record-schema.ts";
import { makeNouns } from "../model/schema.ts";
import { nullable } from "../../platform/schema.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import {
  consume,
  divide,
  type Division,
  type GivenAmount,
  type Loan,
  MAX_ALIQUOTS,
  refill,
  putBack,
  type StockItem,
  takeOut,
  thaw,
} from "../records/stock.ts";
import { DECLARED, RESOURCES, type RoutedResource } from "../resources/index.ts";
import { hasStock } from "../model/access.ts";
import { writeBatch } from "./batch.ts";
import { type Call, findRecord } from "./call.ts";
import { inList } from "./mount-operations.ts";
import { DRY_RUN, IF_MATCH } from "./parameters.ts";
import { operation } from "../../platform/operation.ts";
import { checkVersion } from "./entity-tag.ts";
import { showRecord, showRecords } from "./read-records.ts";
import { anyRecord } from "./route-history.ts";
import { listRecordParameters } from "./route-records.ts";
import { closed, optional, RENDERED_CONTENT } from "./schema.ts";

const amount = (description: string) => Type.Number({ exclusiveMinimum: 0, description, examples: [0.1] });
const day = (description: string) => Type.Optional(nullable(Type.String({ format: "date", description })));

const UNIT = Type.Optional(
  Type.String({
    $id: "AmountUnit",
    description: "Unit of the amount, such as µL; by default that of the record.",
    maxLength: 255,
    examples: undefined,
  }),
);
const CONSUME = closed({ amount: amount("Amount to take out."), unit: UNIT }, "Consume");
const REFILL = closed(
  {
    amount: amount("Amount to add."),
    unit: UNIT,
    lot: optional("Lot of the new stock."),
    received: day("Day of receipt."),
    expiry: day("Day of expiry."),
  },
  "Refill",
);
const DIVIDE = closed(
  {
    count: Type.Integer({
      minimum: 1,
      maximum: MAX_ALIQUOTS,
      description: "Number of aliquots.",
      examples: [2],
    }),
    amount: Type.Optional({
      ...amount("Amount of each aliquot, taken out of the record."),
      examples: undefined,
    }),
    unit: UNIT,
    name: optional("Name of the aliquots, followed by a number; by default that of the record."),
    location: Type.Optional(
      nullable(
        Type.String({
          description: "Id of the location whose free slots they fill; by default that of the record.",
        }),
      ),
    ),
  },
  "Aliquots",
);
const THAW = closed({});

const TAKE_OUT = closed({
  due_back: Type.Optional(
    Type.String({ format: "date-time", description: "By default after `due_back_days` of its group." }),
  ),
  taken_out_by: optional("Username of a person who may use it and gets it; by default the caller."),
});
const PUT_BACK = closed({
  location: optional("Id of another location."),
  position: optional("Position there."),
});

/** Actions on stock: consume, refill, aliquot, thaw, take out, put back. */
export const stockOperations = () =>
  RESOURCES.filter(hasStock).flatMap((resource) =>
    inList(resource, [
      ...amountOperations(resource),
      aliquotOperation(resource),
      ...placeOperations(resource),
    ]),
  );

function amountOperations(resource: RoutedResource) {
  const { one } = makeNouns(resource);
  const ofItem = {
    access: "signedIn",
    parameters: [() => listRecordParameters(resource), DRY_RUN, IF_MATCH],
    returns: recordAnswer(DECLARED, resource),
    formats: RENDERED_CONTENT,
  } as const;
  return [
    operation("POST /api/v2/:list/:id/consume/", {
      ...ofItem,
      summary: `Consume ${one}`,
      description: "Takes an amount out. Concurrent requests add up.",
      body: CONSUME,
      run: ({ params, body }, call: Call) =>
        changeItem(call, { resource, id: params.id, kind: "consume" }, body as JsonObject, (writer, item) =>
          consume(call.store, writer, item, body as GivenAmount, call.actor),
        ),
    }),
    operation("POST /api/v2/:list/:id/refill/", {
      ...ofItem,
      summary: `Refill ${one}`,
      body: REFILL,
      run: ({ params, body }, call: Call) =>
        changeItem(call, { resource, id: params.id }, body as JsonObject, (writer, item) =>
          refill(call.store, writer, item, body as never, call.actor),
        ),
    }),
    operation("POST /api/v2/:list/:id/thaw/", {
      ...ofItem,
      summary: `Count a freeze–thaw cycle of ${one}`,
      body: THAW,
      run: ({ params, body }, call: Call) =>
        changeItem(call, { resource, id: params.id }, body as JsonObject, (writer, item) =>
          thaw(writer, item, call.actor),
        ),
    }),
  ];
}

/** Both lists have one description of these. */
function placeOperations(resource: RoutedResource) {
  const ofItem = {
    access: "signedIn",
    parameters: [() => listRecordParameters(resource), DRY_RUN, IF_MATCH],
    returns: anyRecord,
    formats: RENDERED_CONTENT,
  } as const;
  return [
    operation("POST /api/v2/:list/:id/take_out/", {
      ...ofItem,
      summary: "Take stock out",
      description: "Its slot stays reserved.",
      body: TAKE_OUT,
      run: ({ params, body }, call: Call) =>
        changeItem(call, { resource, id: params.id }, body as JsonObject, (writer, item) =>
          takeOut(call.store, writer, item, parseLoan(body), call.actor),
        ),
    }),
    operation("POST /api/v2/:list/:id/put_back/", {
      ...ofItem,
      summary: "Put stock back",
      body: PUT_BACK,
      run: ({ params, body }, call: Call) =>
        changeItem(call, { resource, id: params.id }, body as JsonObject, (writer, item) =>
          putBack(writer, item, body, call.actor),
        ),
    }),
  ];
}

const parseLoan = ({ due_back: due, taken_out_by: holder }: Type.Static<typeof TAKE_OUT>): Loan => ({
  due: due === undefined ? undefined : Number(KINDS.instant.parse(due)),
  holder,
});

/** Changes the stock of a record, and shows the record. */
const changeItem = (
  call: Call,
  { resource, id, kind = "update" }: { resource: RoutedResource; id: string; kind?: "update" | "consume" },
  body: JsonObject,
  change: (writer: RecordWriter, item: StockItem) => void,
): Promise<Response> =>
  writeBatch(call, body, {
    kind,
    given: body.due_back === undefined ? undefined : "due_back",
    work(writer) {
      const item = findItem(call, resource, id, writer);
      change(writer, item);
      return item.rid;
    },
    respond: (rid) => showRecord(call, resource, rid, 200),
  });

function aliquotOperation(resource: RoutedResource) {
  return operation("POST /api/v2/:list/:id/aliquots/", {
    access: "signedIn",
    summary: `Make aliquots of ${makeNouns(resource).one}`,
    description: "New records with the properties of this one, which `aliquot_of` names.",
    parameters: [() => listRecordParameters(resource), DRY_RUN, IF_MATCH],
    body: DIVIDE,
    status: 201,
    returns: recordsAnswer(DECLARED, resource),
    run: ({ params, body }, call: Call) =>
      writeBatch(call, body as unknown as JsonObject, {
        kind: "bulk_create",
        work: (writer) =>
          divide(
            call.store,
            writer,
            findItem(call, resource, params.id, writer),
            body as Division,
            call.actor,
          ),
        respond: (rids) => showRecords(call, resource, rids, 201),
      }),
  });
}

function findItem(call: Call, resource: RoutedResource, id: string, writer: RecordWriter): StockItem {
  const rid = findRecord(call, resource, id);
  checkVersion(call, Number(writer.current(resource, rid).version));
  return { resource, rid };
}
