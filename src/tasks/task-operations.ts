import { type Static, Type } from "typebox";
import { type Owner, type Ownership, requireOwner } from "../accounts/owner.ts";
import { timestamp, timestampOrNull } from "../platform/clock.ts";
import type { EventStreams, Snapshot } from "../platform/event-streams.ts";
import { operation } from "../platform/operation.ts";
import { pageSchema, singlePage } from "../platform/page.ts";
import { answerSchema, nullable } from "../platform/schema.ts";
import { Problem } from "../problem.ts";
import { type Task, TASK_STATES, taskHasEnded } from "./task.ts";
import type { Tasks } from "./tasks.ts";

const DEFAULT_LISTED = 100;
const MAX_LISTED = 1000;

const Address = Type.String({ format: "uri" });
export const TaskAnswer = answerSchema(
  "The task.",
  {
    id: Type.String(),
    kind: Type.String({ description: "Kind of task, such as job, batch or backup." }),
    title: Type.String({ description: "The action of the task in words, before the subject." }),
    subject: Type.String({ description: "Subject of the task, such as the name of a corpus; may be empty." }),
    state: Type.Enum([...TASK_STATES]),
    created: Type.String(),
    started: nullable(Type.String()),
    ended: nullable(Type.String()),
    message: Type.String({ description: "The current activity, the outcome, or the reason of a failure." }),
    fraction: nullable(Type.Number({ description: "The part that is done, 0 to 1." })),
    result: Type.Unknown({ description: "The results until now; depends on the kind." }),
    mayChange: Type.Boolean({ description: "Whether the caller may cancel the task." }),
    links: Type.Object({
      self: Address,
      events: Address,
      resource: nullable(Address, { description: "The task at the address of its kind, with more details." }),
    }),
  },
  "Task",
);
const TaskList = pageSchema("The caller's tasks, newest first; all tasks for administrators.", TaskAnswer);

/** Dependencies of the operations of tasks. */
export interface TaskParts {
  tasks: Tasks;
  events: EventStreams;
  ownership: Ownership;
  /** The client of a request, as a key for the limit of streams. */
  identifyClient: (request: Request) => string;
}

const ofOne = { access: "anyone", params: { id: "Id of the task." }, errors: [404] } as const;

/**
 * Tasks of all kinds. A link is enough to read those that may be shared; only owners and administrators may cancel them,
 * and see them in a list.
 */
export const taskOperations = [
  operation("GET /api/tasks/", {
    access: "anyone",
    summary: "List tasks of all kinds",
    description:
      "Work that takes longer than a request: the caller's own, also without an account. The jobs of a batch are not listed besides it.",
    query: Type.Object({
      kind: Type.Optional(
        Type.String({ description: "Only tasks of these kinds, such as `batch` or `job,batch`." }),
      ),
      owner: Type.Optional(
        Type.Enum(["me", "all"], {
          description: "`me`: only the caller's own tasks, for administrators too.",
        }),
      ),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAX_LISTED,
          description: `Tasks to list: ${DEFAULT_LISTED} by default, at most ${MAX_LISTED}.`,
        }),
      ),
    }),
    returns: TaskList,
    run({ query, request, context }, { tasks, ownership }: TaskParts) {
      const { kind, owner, limit = DEFAULT_LISTED } = query;
      const kinds = kind?.split(",");
      if (kinds?.every((name) => tasks.kinds.includes(name)) === false)
        throw new Problem("invalid_request", `kind: expected one of ${tasks.kinds.join(", ")}.`);
      const caller = ownership.identify(request);
      const seesAll = caller.isAdministrator && owner !== "me";
      const found = tasks.listAll(seesAll ? null : caller.keys, limit, kinds);
      return singlePage(found.map((task) => showTask(tasks, task, caller, context.baseUrl)));
    },
  }),
  operation("GET /api/tasks/:id", {
    ...ofOne,
    summary: "Get a task of any kind",
    returns: TaskAnswer,
    run: ({ params, request, context }, parts: TaskParts) =>
      taskReader(parts, params.id, request, context.baseUrl)(),
  }),
  operation("DELETE /api/tasks/:id", {
    ...ofOne,
    summary: "Cancel a task of any kind",
    description: "The response is sent once the work has ended.",
    returns: TaskAnswer,
    errors: [404, 409],
    async run({ params: { id }, request, context }, { tasks, ownership }: TaskParts) {
      const caller = ownership.identify(request);
      requireOwner(caller, findReadable(tasks, id, caller).owner, "task");
      return showTask(tasks, await tasks.cancelAny(id), caller, context.baseUrl);
    },
  }),
  operation("GET /api/tasks/:id/events", {
    ...ofOne,
    summary: "Watch a task by server-sent events",
    operationId: "watchTask",
    description:
      "The data of each event is the whole task. The event is `state` if the state has changed, otherwise `progress`. The stream begins with the current state and ends with the final one. A client that reconnects sends `Last-Event-ID` and receives only new events.",
    parameters: [
      {
        name: "Last-Event-ID",
        in: "header",
        required: false,
        description: "Identifier of the last event received.",
        schema: { type: "string" },
      },
    ],
    formats: { "text/event-stream": { schema: { type: "string", description: "Events." } } },
    responses: { 204: { description: "The client has received the final state; there are no more events." } },
    errors: [404, 503],
    run({ params, request, context }, parts: TaskParts) {
      const read = taskReader(parts, params.id, request, context.baseUrl);
      return parts.events.respond(request, parts.identifyClient(request), () => takeSnapshot(read()));
    },
  }),
];

/** A function that reads a task for a caller. @throws Problem not_found */
function taskReader({ tasks, ownership }: TaskParts, id: string, request: Request, base: string) {
  const caller = ownership.identify(request);
  return () => showTask(tasks, findReadable(tasks, id, caller), caller, base);
}

/** @throws Problem not_found, also for a task that the caller may not read */
function findReadable(tasks: Tasks, id: string, { keys, isAdministrator }: Owner): Task {
  const task = tasks.findAny(id);
  if (isAdministrator || keys.includes(task.owner) || tasks.findKind(task).readers === "link") return task;
  throw new Problem("not_found", "No task has this identifier, or it ended long ago.");
}

function showTask(
  tasks: Tasks,
  { id, kind, subject, state, created, started, ended, message, fraction, result, owner }: Task,
  { keys, isAdministrator }: Owner,
  base: string,
): Static<typeof TaskAnswer> {
  const { title, path } = tasks.findKind({ kind });
  const self = `${base}/api/tasks/${id}`;
  return {
    id,
    kind,
    title,
    subject,
    state,
    created: timestamp(created),
    started: timestampOrNull(started),
    ended: timestampOrNull(ended),
    message,
    fraction,
    result,
    mayChange: isAdministrator || keys.includes(owner),
    links: { self, events: `${self}/events`, resource: path ? base + path(id) : null },
  };
}

/** The id of a snapshot is a hash, because messages and results are of any form. */
function takeSnapshot(task: Static<typeof TaskAnswer>): Snapshot {
  const { state, message, fraction, result } = task;
  const id = Bun.hash(JSON.stringify([state, message, fraction, result])).toString(36);
  return { id, state, hasEnded: taskHasEnded(state), data: task };
}
