import { type TProperties, Type } from "typebox";
import type { Json } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import {
  changesSchema,
  creationSchema,
  listParameters,
  listSchema,
  recordSchema,
  makeNouns,
} from "../model/schema.ts";
import { type Kind, People, type PersonWrite } from "../records/people.ts";
import type { Store } from "../records/store.ts";
import { DECLARED, PEOPLE, SUB_RESOURCES } from "../resources/index.ts";
import { type Batch, writeBatch } from "./batch.ts";
import { type Call, mayChange, missingCredentials, noContent, readBody, respondJson } from "./call.ts";
import type { Api } from "./api.ts";
import { checkRepresentation, listRecords, showRecord } from "./read-records.ts";
import { isHeavyList } from "./heavy-request.ts";
import { addHistoryRoutes, addMembershipHistory } from "./route-history.ts";
import { SEARCH } from "./list-search.ts";
import { addOptions, addSearch, listRecordParameters } from "./route-records.ts";
import { content, optional, pageSchema, rendered, singlePage, TEXT } from "./schema.ts";
import { writeMode } from "./write-records.ts";
import type { Accounts } from "../../accounts/accounts.ts";

/** Accounts, groups and memberships: read like all resources, written by their own rules. */
export function addPeople(api: Api, store: Store, accounts: Accounts): void {
  const people = new People(store, accounts);
  for (const kind of ["user", "group"] as const) {
    addPeopleList(api, kind, people, accounts);
    addPerson(api, kind, people, accounts);
    addMembershipHistory(api, kind, (name) => people.find(kind, name));
  }
  addMembers(api, people, accounts);
}

/** People confirm with their password what gives lasting access, unless they have done so recently. */
const confirmation = (accounts: Accounts, call: Call) => (password: string) =>
  accounts.confirmations.require(call.request, call.actor, password);

function rejectPast({ url }: Call): void {
  if (url.searchParams.has("as_of")) throw parameterProblem("as_of", "Accounts and groups keep no history.");
}

const PASSWORDS = {
  password: "At least 8 characters. A new password ends the sessions of the account.",
  current_password:
    "Your own password: required to change it, and, if you signed in some time ago, to change an e-mail address or to give somebody access.",
};

function sentBy(kind: Kind, isChange: boolean) {
  const schema = (isChange ? changesSchema : creationSchema)(DECLARED, PEOPLE[kind]);
  if (kind === "group") return content(schema);
  const passwords = Object.entries(PASSWORDS).map(([name, description]) => [
    name,
    Type.Optional(Type.String({ format: "password", writeOnly: true, description })),
  ]);
  return content({
    $id: isChange ? "AccountChanges" : "NewAccount",
    allOf: [schema, Type.Object(Object.fromEntries(passwords) as TProperties)],
    examples: (schema as { examples?: Json[] }).examples,
  });
}

function addPeopleList(api: Api, kind: Kind, people: People, accounts: Accounts): void {
  const resource = PEOPLE[kind];
  const path = `${resource.segment}/`;
  const list = api.add("GET", path, {
    summary: `List ${makeNouns(resource).many}`,
    description: resource.summary,
    parameters: listParameters(DECLARED, resource).filter(({ name }) => name !== "as_of"),
    parses: true,
    returns: rendered(listSchema(DECLARED, resource)),
    signedIn: true,
    heavy({ call }) {
      rejectPast(call);
      return isHeavyList(call, resource);
    },
    run({ call }) {
      rejectPast(call);
      return listRecords(call, resource);
    },
  });
  addSearch(api, path + SEARCH, resource, { list, signedIn: true });
  api.add("POST", path, {
    summary: `Create ${makeNouns(resource).one}`,
    description: "Administrators only.",
    parameters: listRecordParameters(resource),
    sends: sentBy(kind, false),
    status: 201,
    returns: rendered(recordSchema(DECLARED, resource)),
    async run({ call }) {
      rejectPast(call);
      checkRepresentation(call, resource);
      const confirm = confirmation(accounts, call);
      const written = await people.create(kind, await readBody(call), call.actor, confirm);
      return showPerson(call, kind, written, 201);
    },
  });
  addOptions(api, path, resource, ({ actor }) => (actor.superuser ? ["POST"] : []));
}

function addPerson(api: Api, kind: Kind, people: People, accounts: Accounts): void {
  const resource = PEOPLE[kind];
  const path = `${resource.segment}/:${kind}/`;
  const returns = rendered(recordSchema(DECLARED, resource));
  const parameters = listRecordParameters(resource);
  api.add("GET", path, {
    summary: `Get ${makeNouns(resource).one}`,
    parameters,
    returns,
    signedIn: true,
    run({ call, params }) {
      const rid = people.find(kind, params[kind]);
      checkRepresentation(call, resource);
      return showRecord(call, resource, rid, 200);
    },
  });
  for (const [method, verb] of [
    ["PUT", "Replace"],
    ["PATCH", "Update"],
  ] as const)
    api.add(method, path, {
      summary: `${verb} ${makeNouns(resource).one}`,
      description:
        kind === "user"
          ? "Users may change full_name, email and password of their own account; administrators may change everything."
          : "Administrators only.",
      parameters,
      sends: sentBy(kind, method === "PATCH"),
      returns,
      async run({ call, params }) {
        const rid = people.find(kind, params[kind]);
        checkRepresentation(call, resource);
        const [body, confirm] = [await readBody(call), confirmation(accounts, call)];
        const written = await people.update({ kind, rid }, body, writeMode(call), call.actor, confirm);
        return showPerson(call, kind, written, 200);
      },
    });
  api.add("DELETE", path, {
    summary: kind === "user" ? "Disable a user" : "Delete a group",
    description:
      kind === "user"
        ? "The account stays as the author of records; setting `is_active` enables it again."
        : "Rejected while the group owns records or is the primary group of an account.",
    run({ call, params }) {
      people.remove(kind, people.find(kind, params[kind]), call.actor);
      return noContent();
    },
  });
  addOptions(api, path, resource, (call, { [kind]: name }) =>
    mayChange(call, resource, people.find(kind, name)) ? ["PUT"] : [],
  );
}

function showPerson(call: Call, kind: Kind, { rid, batch }: PersonWrite, status: 200 | 201): Response {
  const response = showRecord(call, PEOPLE[kind], rid, status);
  if (batch !== null) response.headers.set("Batch-Id", batch);
  return response;
}

const MEMBERS = pageSchema(Type.Object({ id: TEXT, username: TEXT, full_name: TEXT }), {}, "MemberList");

function addMembers(api: Api, people: People, accounts: Accounts): void {
  const path = "groups/:group/members/";
  api.add("GET", path, {
    summary: "List members of a group",
    description: "All members are in one page.",
    query: Type.Object({ as_of: optional("A time or a batch id: the members at that time.") }),
    returns: content(MEMBERS),
    signedIn: true,
    run: ({ call, params }) => showMembers(call, people, people.find("group", params.group)),
  });
  const usernames = Type.Array(TEXT, {
    $id: "Usernames",
    description: "Usernames or ids.",
    examples: [["alice", "bob"]],
  });
  for (const [method, summary] of [
    ["PUT", "Replace members of a group"],
    ["POST", "Add members to a group"],
  ] as const)
    api.add(method, path, {
      summary,
      accepts: ["dryRun", "several"],
      sends: content(usernames),
      returns: content(MEMBERS),
      async run({ call, params }) {
        const group = people.find("group", params.group);
        const value = await readBody(call);
        const list: Json = method === "POST" && !Array.isArray(value) ? [value] : value;
        const named = people.readList("user", "members", list);
        if (call.actor.superuser) await people.confirmJoining(group, named, confirmation(accounts, call));
        const change = (before: ReadonlySet<number>) => (method === "PUT" ? named : before.union(named));
        return writeBatch(
          call,
          list,
          batchOfMembers(call, people, group, change, () => showMembers(call, people, group)),
        );
      },
    });
  addOptions(api, path, PEOPLE.group);
  for (const [method, summary] of [
    ["PUT", "Add a member to a group"],
    ["DELETE", "Remove a member from a group"],
  ] as const)
    api.add(method, `${path}:member/`, {
      summary,
      accepts: ["dryRun"],
      async run({ call, params }) {
        const group = people.find("group", params.group);
        const member = new Set([people.find("user", params.member)]);
        if (call.actor.superuser && method === "PUT")
          await people.confirmJoining(group, member, confirmation(accounts, call));
        const change = (before: ReadonlySet<number>) =>
          method === "PUT" ? before.union(member) : before.difference(member);
        return writeBatch(
          call,
          null,
          batchOfMembers(call, people, group, change, () => noContent()),
        );
      },
    });
  addOptions(api, `${path}:member/`, PEOPLE.group);
  addHistoryRoutes(api, {
    name: "a membership",
    signedIn: true,
    resource: SUB_RESOURCES.membership,
    path: `${path}:member/`,
    restored: () => content(MEMBERS),
    find({ actor }, { group, member }) {
      if (actor.user === null) throw missingCredentials();
      return people.membership(people.find("group", group), people.find("user", member));
    },
    show: (call, _rid, { group }) => showMembers(call, people, people.find("group", group)),
  });
}

const batchOfMembers = (
  { actor }: Call,
  people: People,
  group: number,
  change: (before: ReadonlySet<number>) => ReadonlySet<number>,
  respond: () => Response,
): Batch<void> => ({
  kind: "update",
  work: (writer) => people.setMembers(writer, group, change, actor),
  respond,
});

function showMembers({ actor, store, url }: Call, people: People, group: number): Response {
  const { searchParams } = url;
  const past = searchParams.has("as_of") ? store.past(PEOPLE.group, searchParams, actor) : undefined;
  const fields = ["id", "username", "full_name"];
  const values = store.reader.values(PEOPLE.user, fields, actor, people.members(group, past?.statements));
  return respondJson(singlePage(values));
}
