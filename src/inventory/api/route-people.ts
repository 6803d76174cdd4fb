import { type TProperties, Type } from "typebox";
import type { Json } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { listParameters } from "../model/list-parameters.ts";
import { recordAnswer } from "../model/record-schema.ts";
import { changesSchema, creationSchema, makeNouns } from "../model/schema.ts";
import { type Kind, People, type PersonWrite } from "../records/people.ts";
import type { Store } from "../records/store.ts";
import { DECLARED, PEOPLE, SUB_RESOURCES } from "../resources/index.ts";
import { type Batch, writeBatch } from "./batch.ts";
import { type Call, mayChange, missingCredentials, noContent, readBody, respondJson } from "./call.ts";
import { checkRepresentation, listRecords, showRecord } from "./read-records.ts";
import { isHeavyList } from "./heavy-request.ts";
import { historyOperationsBelow, membershipHistoryOperation } from "./route-history.ts";
import { DRY_RUN, type Filters, SEVERAL } from "./parameters.ts";
import { listAnswer, optionsOperation, listRecordParameters, searchOperation } from "./route-records.ts";
import { content, optional, pageSchema, RENDERED_CONTENT, singlePage, TEXT } from "./schema.ts";
import { writeMode } from "./write-records.ts";
import { operation, type Parameters } from "../../platform/operation.ts";
import type { Accounts } from "../../accounts/accounts.ts";

/** Accounts, groups and memberships: read like all resources, written by their own rules. */
export function peopleOperations(store: Store, accounts: Accounts) {
  const people = new People(store, accounts);
  return [
    ...peopleListOperations("user", people, accounts),
    ...personOperations("user", people, accounts),
    ...peopleListOperations("group", people, accounts),
    ...personOperations("group", people, accounts),
    ...memberOperations(people, accounts),
  ];
}

const LISTS = { user: "/api/v2/users/", group: "/api/v2/groups/" } as const;
const ONE = { user: "/api/v2/users/:user/", group: "/api/v2/groups/:group/" } as const;

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

function makeBodySchema(kind: Kind, isChange: boolean) {
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

function peopleListOperations(kind: Kind, people: People, accounts: Accounts) {
  const resource = PEOPLE[kind];
  const list = (call: Call) => {
    rejectPast(call);
    return listRecords(call, resource);
  };
  const parameters: Parameters<Filters> = listParameters(DECLARED, resource).filter(
    ({ name }) => name !== "as_of",
  );
  return [
    operation(`GET ${LISTS[kind]}`, {
      access: "signedIn",
      summary: `List ${makeNouns(resource).many}`,
      description: resource.summary,
      parses: true,
      parameters: [parameters],
      returns: listAnswer(resource),
      formats: RENDERED_CONTENT,
      heavy(_, call: Call) {
        rejectPast(call);
        return isHeavyList(call, resource);
      },
      run: (_, call: Call) => list(call),
    }),
    searchOperation(LISTS[kind], resource, "signedIn", list),
    operation(`POST ${LISTS[kind]}`, {
      access: "signedIn",
      summary: `Create ${makeNouns(resource).one}`,
      description: "Administrators only.",
      parameters: [listRecordParameters(resource)],
      sends: makeBodySchema(kind, false),
      status: 201,
      returns: recordAnswer(DECLARED, resource),
      formats: RENDERED_CONTENT,
      async run(_, call: Call) {
        rejectPast(call);
        checkRepresentation(call, resource);
        const confirm = confirmation(accounts, call);
        const written = await people.create(kind, await readBody(call), call.actor, confirm);
        return showPerson(call, kind, written, 201);
      },
    }),
    optionsOperation(LISTS[kind], resource, "signedIn", ({ actor }) => (actor.superuser ? ["POST"] : [])),
  ];
}

function personOperations(kind: Kind, people: People, accounts: Accounts) {
  const resource = PEOPLE[kind];
  const ofOne = {
    access: "signedIn",
    parameters: [listRecordParameters(resource)],
    returns: recordAnswer(DECLARED, resource),
    formats: RENDERED_CONTENT,
  } as const;
  const change = (method: "PUT" | "PATCH", verb: string) =>
    operation(`${method} ${ONE[kind]}`, {
      ...ofOne,
      summary: `${verb} ${makeNouns(resource).one}`,
      description:
        kind === "user"
          ? "Users may change full_name, email and password of their own account; administrators may change everything."
          : "Administrators only.",
      sends: makeBodySchema(kind, method === "PATCH"),
      async run({ params }, call: Call) {
        const rid = people.find(kind, params[kind]);
        checkRepresentation(call, resource);
        const [body, confirm] = [await readBody(call), confirmation(accounts, call)];
        const written = await people.update({ kind, rid }, body, writeMode(call), call.actor, confirm);
        return showPerson(call, kind, written, 200);
      },
    });
  return [
    operation(`GET ${ONE[kind]}`, {
      ...ofOne,
      summary: `Get ${makeNouns(resource).one}`,
      run({ params }, call: Call) {
        const rid = people.find(kind, params[kind]);
        checkRepresentation(call, resource);
        return showRecord(call, resource, rid, 200);
      },
    }),
    change("PUT", "Replace"),
    change("PATCH", "Update"),
    operation(`DELETE ${ONE[kind]}`, {
      access: "signedIn",
      summary: kind === "user" ? "Disable a user" : "Delete a group",
      description:
        kind === "user"
          ? "The account stays as the author of records; setting `is_active` enables it again."
          : "Rejected while the group owns records or is the primary group of an account.",
      run({ params }, call: Call) {
        people.remove(kind, people.find(kind, params[kind]), call.actor);
        return noContent();
      },
    }),
    optionsOperation(ONE[kind], resource, "signedIn", (call, { [kind]: name }) =>
      mayChange(call, resource, people.find(kind, name)) ? ["PUT"] : [],
    ),
    membershipHistoryOperation(kind, (name) => people.find(kind, name)),
  ];
}

function showPerson(call: Call, kind: Kind, { rid, batch }: PersonWrite, status: 200 | 201): Response {
  const response = showRecord(call, PEOPLE[kind], rid, status);
  if (batch !== null) response.headers.set("Batch-Id", batch);
  return response;
}

const MEMBERS = pageSchema(Type.Object({ id: TEXT, username: TEXT, full_name: TEXT }), {}, "MemberList");

const MEMBERS_PATH = "/api/v2/groups/:group/members/";
const MEMBER_PATH = "/api/v2/groups/:group/members/:member/";
const USERNAMES = Type.Array(TEXT, {
  $id: "Usernames",
  description: "Usernames or ids.",
  examples: [["alice", "bob"]],
});

function memberOperations(people: People, accounts: Accounts) {
  const changeAll = (method: "PUT" | "POST", summary: string) =>
    operation(`${method} ${MEMBERS_PATH}`, {
      access: "signedIn",
      summary,
      parameters: [DRY_RUN, SEVERAL],
      sends: content(USERNAMES),
      returns: MEMBERS,
      async run({ params }, call: Call) {
        const group = people.find("group", params.group);
        const value = await readBody(call);
        const list: Json = method === "POST" && !Array.isArray(value) ? [value] : value;
        const named = people.readList("user", "members", list);
        if (call.actor.superuser) await people.confirmJoining(group, named, confirmation(accounts, call));
        const change = (before: ReadonlySet<number>) => (method === "PUT" ? named : before.union(named));
        return writeBatch(
          call,
          list,
          changeMembers(call, people, group, change, () => showMembers(call, people, group)),
        );
      },
    });
  const changeOne = (method: "PUT" | "DELETE", summary: string) =>
    operation(`${method} ${MEMBER_PATH}`, {
      access: "signedIn",
      summary,
      parameters: [DRY_RUN],
      async run({ params }, call: Call) {
        const group = people.find("group", params.group);
        const member = new Set([people.find("user", params.member)]);
        if (call.actor.superuser && method === "PUT")
          await people.confirmJoining(group, member, confirmation(accounts, call));
        const change = (before: ReadonlySet<number>) =>
          method === "PUT" ? before.union(member) : before.difference(member);
        return writeBatch(
          call,
          null,
          changeMembers(call, people, group, change, () => noContent()),
        );
      },
    });
  return [
    operation(`GET ${MEMBERS_PATH}`, {
      access: "signedIn",
      summary: "List members of a group",
      description: "All members are in one page.",
      query: Type.Object({ as_of: optional("A time or a batch id: the members at that time.") }),
      returns: MEMBERS,
      run: ({ params }, call: Call) => showMembers(call, people, people.find("group", params.group)),
    }),
    changeAll("PUT", "Replace members of a group"),
    changeAll("POST", "Add members to a group"),
    optionsOperation(MEMBERS_PATH, PEOPLE.group, "signedIn"),
    changeOne("PUT", "Add a member to a group"),
    changeOne("DELETE", "Remove a member from a group"),
    optionsOperation(MEMBER_PATH, PEOPLE.group, "signedIn"),
    ...historyOperationsBelow(MEMBER_PATH, {
      name: "a membership",
      access: "signedIn",
      resource: SUB_RESOURCES.membership,
      restored: MEMBERS,
      find({ actor }, { group, member }) {
        if (actor.user === null) throw missingCredentials();
        return people.membership(people.find("group", group), people.find("user", member));
      },
      show: (call, _rid, { group }) => showMembers(call, people, people.find("group", group)),
    }),
  ];
}

const changeMembers = (
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
