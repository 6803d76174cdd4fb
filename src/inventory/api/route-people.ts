import type { Elysia } from "elysia";
import { type Answers, ITEM_METHODS, unwrap } from "./respond.ts";
import type { HistoryAnswers } from "./respond-with-history.ts";
import { runInTurn } from "./respond-to-write.ts";
import { content, type Detail, inPath, inQuery, refusalsOf, secured } from "./route-description.ts";
import type { Json } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { bodySchema, listParameters, listSchema, recordSchema } from "../model/schema.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import type { Actor } from "../model/access.ts";
import { type Kind, People } from "../records/people.ts";
import { readJson } from "./request-body.ts";
import { DECLARED, SUB_RESOURCES, PEOPLE } from "../resources/index.ts";
import { type Call, describe, respond, ROOT } from "./response.ts";
import { DRY_RUN } from "./write-parameters.ts";
import { addHistoryOf, addMemberships } from "./route-history.ts";
import type { Store } from "../records/store.ts";
import type { Accounts } from "../../accounts/accounts.ts";
import { unauthenticated } from "../../accounts/unauthenticated.ts";

const LIST_METHODS = "GET, POST, HEAD, OPTIONS";
const MEMBERS_METHODS = "GET, POST, PUT, HEAD, OPTIONS";
const MEMBER_METHODS = "PUT, DELETE, OPTIONS";
const HIDDEN = { parse: "none", detail: { hide: true } } as const;

interface PeopleOptions {
  answers: Answers;
  history: HistoryAnswers;
  store: Store;
  accounts: Accounts;
  maxMessageBytes: number;
}
type Params = Record<string, string | null>;
type Context = { request: Request; params: Params };

/** Accounts, groups and memberships: read as all resources are, written by rules of their own. */
export function addPeople(
  app: Elysia,
  { answers, history, store, accounts, maxMessageBytes }: PeopleOptions,
): void {
  const people = new People(store, accounts);
  const confirm = (request: Request, actor: Actor) => (password: string) =>
    accounts.confirmations.require(request, actor, password);
  const body = async ({ request }: Call): Promise<Json> => unwrap(await readJson(request, maxMessageBytes));
  const options = (call: Call, kind: Kind, allow: string, may: string[]): Response =>
    describe(call, PEOPLE[kind], allow, may);

  const list =
    (kind: Kind) =>
    async ({ request }: { request: Request }): Promise<Response> => {
      const call = answers.beginKnown(request, LIST_METHODS);
      if (call.method === "OPTIONS")
        return options(call, kind, LIST_METHODS, call.actor.superuser ? ["POST"] : []);
      if (call.url.searchParams.has("as_of"))
        throw parameterProblem("as_of", "Accounts and groups keep no history.");
      let response: Response;
      if (call.method === "POST") {
        answers.checkAnswer(call, PEOPLE[kind]);
        const { rid, batch } = await people.create(
          kind,
          await body(call),
          call.actor,
          confirm(request, call.actor),
        );
        response = answers.showRecord(call, PEOPLE[kind], rid, 201);
        if (batch !== null) response.headers.set("Batch-Id", batch);
      } else response = await answers.collection(request, PEOPLE[kind]);
      response.headers.set("Allow", LIST_METHODS);
      return response;
    };

  const item =
    (kind: Kind) =>
    async ({ request, params }: Context): Promise<Response> => {
      const call = answers.beginKnown(request, ITEM_METHODS);
      const rid = people.find(kind, params.name ?? "");
      const resource = PEOPLE[kind];
      if (call.method === "OPTIONS") {
        const may = store.reader.rights(resource, call.actor, [rid]).get(rid)?.change;
        return options(call, kind, ITEM_METHODS, may ? ["PUT"] : []);
      }
      if (call.method === "DELETE") {
        people.remove(kind, rid, call.actor);
        return respond(null, 204, "", { Allow: ITEM_METHODS });
      }
      answers.checkAnswer(call, resource);
      if (call.method !== "PUT" && call.method !== "PATCH")
        return answers.showRecord(call, resource, rid, 200);
      const mode = call.method === "PUT" ? "replace" : "merge";
      const { batch } = await people.update(
        { kind, rid },
        await body(call),
        mode,
        call.actor,
        confirm(request, call.actor),
      );
      const response = answers.showRecord(call, resource, rid, 200);
      if (batch !== null) response.headers.set("Batch-Id", batch);
      return response;
    };

  /** All of them, in the envelope of a list: a group is no larger than a laboratory. */
  const showMembers = (call: Call, group: number): Response => {
    const { searchParams } = call.url;
    const past = searchParams.has("as_of") ? store.past(PEOPLE.group, searchParams, call.actor) : undefined;
    const look = { format: undefined, shape: "flat", fields: ["id", "username", "full_name"] } as const;
    const around = { base: call.base, format: undefined };
    const { values } = store.reader.records(
      PEOPLE.user,
      look,
      call.actor,
      people.members(group, past?.statements),
      around,
    );
    const envelope = {
      previous: null,
      next: null,
      current: 1,
      total: values.length,
      total_pages: 1,
      results: values,
    };
    return respond(JSON.stringify(envelope), 200, MEDIA_TYPES.json, { Allow: MEMBERS_METHODS });
  };

  const members = async ({ request, params }: Context): Promise<Response> => {
    const call = answers.beginKnown(request, MEMBERS_METHODS);
    const group = people.find("group", params.name ?? "");
    if (call.method === "OPTIONS") return options(call, "group", MEMBERS_METHODS, []);
    if (call.method === "PUT" || call.method === "POST") {
      const value = await body(call);
      const named = people.readList(
        "user",
        "members",
        Array.isArray(value) || call.method === "PUT" ? value : [value],
      );
      const change = (before: ReadonlySet<number>) => (call.method === "PUT" ? named : before.union(named));
      return runInTurn(
        store,
        call,
        "update",
        (writing) => people.setMembers(writing, group, change, call.actor),
        () => showMembers(call, group),
      );
    }
    return showMembers(call, group);
  };

  const member = async ({ request, params }: Context): Promise<Response> => {
    const call = answers.beginKnown(request, MEMBER_METHODS);
    const group = people.find("group", params.name ?? "");
    const user = people.find("user", params.member ?? "");
    if (call.method === "OPTIONS") return options(call, "group", MEMBER_METHODS, []);
    const one = new Set([user]);
    const change = (before: ReadonlySet<number>) =>
      call.method === "PUT" ? before.union(one) : before.difference(one);
    return runInTurn(
      store,
      call,
      "update",
      (writing) => people.setMembers(writing, group, change, call.actor),
      () => respond(null, 204, "", { Allow: MEMBER_METHODS }),
    );
  };

  for (const kind of ["user", "group"] as const) {
    const path = `${ROOT}${PEOPLE[kind].segment}/`;
    const docs = describeRoutes(kind);
    app
      .get(path, list(kind), { detail: docs.list })
      .post(path, list(kind), { parse: "none", detail: docs.create })
      .get(`${path}:name/`, item(kind), { detail: docs.read })
      .put(`${path}:name/`, item(kind), { parse: "none", detail: docs.replace })
      .patch(`${path}:name/`, item(kind), { parse: "none", detail: docs.change })
      .delete(`${path}:name/`, item(kind), { parse: "none", detail: docs.remove });
    for (const end of ["", "/"]) {
      app.all(`${path.slice(0, -1)}${end}`, list(kind), HIDDEN);
      app.all(`${path}:name${end}`, item(kind), HIDDEN);
    }
  }
  const path = `${ROOT}groups/:name/members/`;
  app
    .get(path, members, { detail: MEMBERS.list })
    .put(path, members, { parse: "none", detail: MEMBERS.set })
    .post(path, members, { parse: "none", detail: MEMBERS.add })
    .put(`${path}:member/`, member, { parse: "none", detail: MEMBERS.join })
    .delete(`${path}:member/`, member, { parse: "none", detail: MEMBERS.leave });
  for (const end of ["", "/"]) {
    app.all(`${path.slice(0, -1)}${end}`, members, HIDDEN);
    app.all(`${path}:member${end}`, member, HIDDEN);
  }
  for (const kind of ["user", "group"] as const)
    addMemberships(app, history, kind, (name) => people.find(kind, name));
  addHistoryOf(app, history, {
    paths: ["groups/:name/members/:member/"],
    parameters: [group, aMember],
    what: "a membership",
    restored: MEMBER_LIST,
    subject: ({ name, member }) => ({
      resource: SUB_RESOURCES.membership,
      find: ({ actor }) => {
        if (actor.user === null) throw unauthenticated("Authentication credentials were not provided.");
        return people.membership(people.find("group", name ?? ""), people.find("user", member ?? ""));
      },
      show: (call) => showMembers(call, people.find("group", name ?? "")),
    }),
  });
}

const REFUSALS: Record<number, string> = {
  400: "A value breaks a rule; the field is named.",
  403: "Only administrators may do this.",
  404: "There is none.",
  409: "It is needed as it is.",
};
const refusals = refusalsOf(REFUSALS);

function describeRoutes(
  kind: Kind,
): Record<"list" | "create" | "read" | "replace" | "change" | "remove", Detail> {
  const resource = PEOPLE[kind];
  const { segment, summary } = resource;
  const record = recordSchema(DECLARED, resource);
  const parameters = listParameters(DECLARED, resource).filter((parameter) => parameter.name !== "as_of");
  const looks = parameters.filter(({ name }) => ["format", "response_format", "fields"].includes(name));
  const name = inPath("name", kind === "user" ? "Username or id." : "Name or id.");
  const one = (status: number, description: string) => ({
    [status]: { description, content: content(record) },
  });
  const sends = (partial: boolean) => {
    const schema = bodySchema(DECLARED, resource, partial) as { properties?: object };
    const secret = (description: string) => ({
      type: "string",
      format: "password",
      description,
      writeOnly: true,
    });
    const secrets = {
      password: secret("At least 8 characters. Setting it ends the sessions of the account."),
      current_password: secret(
        "The own: needed by who is no administrator and sets the own password, and by an administrator whose session has not shown for a while who it is.",
      ),
    };
    const properties = { ...schema.properties, ...(kind === "user" ? secrets : {}) };
    return { required: true, content: content({ ...schema, properties }) };
  };
  return {
    list: secured({
      summary: `List ${segment}`,
      description: `${summary} For callers with credentials.`,
      parameters,
      responses: {
        200: { description: "One page.", content: content(listSchema(DECLARED, resource)) },
        ...refusals(400, 401),
      },
    }),
    create: secured({
      summary: `Add to ${segment}`,
      description: "For administrators.",
      parameters: looks,
      requestBody: sends(false),
      responses: { ...one(201, "As stored."), ...refusals(400, 401, 403) },
    }),
    read: secured({
      summary: kind === "user" ? "One account" : "One group",
      description: "With `response_format=flat` in `results`.",
      parameters: [name, ...looks],
      responses: { ...one(200, "As stored."), ...refusals(401, 404) },
    }),
    replace: secured({
      summary: `Replace one of ${segment}`,
      parameters: [name, ...looks],
      requestBody: sends(false),
      responses: { ...one(200, "As stored."), ...refusals(400, 401, 403, 404, 409) },
    }),
    change: secured({
      summary: `Change one of ${segment}`,
      description:
        kind === "user"
          ? "Everybody may change full_name, email and password of the own account, administrators everything."
          : "For administrators.",
      parameters: [name, ...looks],
      requestBody: sends(true),
      responses: { ...one(200, "As stored."), ...refusals(400, 401, 403, 404, 409) },
    }),
    remove: secured({
      summary: kind === "user" ? "Disable an account" : "Delete a group",
      description:
        kind === "user"
          ? "It stays, because records tell who made them; `is_active` brings it back."
          : "Refused while it owns records or is a primary group.",
      parameters: [name],
      responses: { 204: { description: "Done." }, ...refusals(401, 403, 404, 409) },
    }),
  };
}

const group = inPath("name", "Name or id of the group.");
const aMember = inPath("member", "Username or id of the account.");
const memberList = { type: "array", items: { type: "string" }, description: "Usernames or ids." };
const MEMBER_LIST = {
  type: "object",
  required: ["previous", "next", "current", "total", "total_pages", "results"],
  properties: {
    previous: { type: "string", nullable: true },
    next: { type: "string", nullable: true },
    current: { type: "integer" },
    total: { type: "integer" },
    total_pages: { type: "integer" },
    results: {
      type: "array",
      items: {
        type: "object",
        required: ["id", "username", "full_name"],
        properties: {
          id: { type: "string" },
          username: { type: "string" },
          full_name: { type: "string" },
        },
      },
    },
  },
};
const page = {
  200: { description: "The members, all in one page.", content: content(MEMBER_LIST) },
};

const MEMBERS: Record<"list" | "set" | "add" | "join" | "leave", Detail> = {
  list: secured({
    summary: "Members of a group",
    parameters: [group, inQuery("as_of", "A time, or the id of a batch: the members of then.")],
    responses: { ...page, ...refusals(400, 401, 404) },
  }),
  set: secured({
    summary: "Set the members of a group",
    parameters: [group, ...DRY_RUN],
    requestBody: { required: true, content: content(memberList) },
    responses: { ...page, ...refusals(400, 401, 403, 404) },
  }),
  add: secured({
    summary: "Add members to a group",
    parameters: [group, ...DRY_RUN],
    requestBody: { required: true, content: content(memberList) },
    responses: { ...page, ...refusals(400, 401, 403, 404) },
  }),
  join: secured({
    summary: "Add a member to a group",
    parameters: [group, aMember, ...DRY_RUN],
    responses: { 204: { description: "It is one." }, ...refusals(401, 403, 404) },
  }),
  leave: secured({
    summary: "Remove a member from a group",
    parameters: [group, aMember, ...DRY_RUN],
    responses: { 204: { description: "It is none." }, ...refusals(400, 401, 403, 404) },
  }),
};
