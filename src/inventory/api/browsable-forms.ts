import { type Html, markup } from "../../platform/html.ts";
import { type Field, type Json, KINDS } from "../model/field.ts";
import { filterDoc } from "../model/schema.ts";
import { searchFilters } from "../model/filter.ts";
import { fieldAt, isGuarded } from "../model/resource.ts";
import { DECLARED, type RoutedResource } from "../resources/index.ts";

/** Forms of the browsable pages, made from the declarations. They work without scripts; form-request.ts reads them. */

/** Hidden parameter of the filter form: browsers send empty fields too, which are then left out. */
export const FROM_FORM = "_form";

const label = (id: string, text: string): Html => markup`<label for="${id}">${text}</label>`;

function select(id: string, name: string, value: string, choices: readonly string[]): Html {
  const options = choices.map((choice) =>
    choice === value ? markup`<option selected>${choice}</option>` : markup`<option>${choice}</option>`,
  );
  return markup`<select id="${id}" name="${name}"><option value="">–</option>${options}</select>`;
}

function filterInput(name: string, field: Field | undefined, value: string, doc: string): Html {
  const id = `filter-${name}`;
  const flags = name === "deleted" ? ["true", "false", "all"] : ["true", "false"];
  const choices = field?.kind === "flag" ? flags : field?.choices;
  const input = choices
    ? select(id, name, value, choices)
    : markup`<input id="${id}" name="${name}" value="${value}">`;
  return markup`<p title="${doc}">${label(id, name.replaceAll("_", " "))}${input}</p>`;
}

/** The filters of a list with what they are now; parameters without an input here are kept. */
export function filterForm(resource: RoutedResource, address: string, parameters: URLSearchParams): Html {
  const search = searchFilters(resource).map(({ name, doc }): [string, Field | undefined, string] => [
    name,
    undefined,
    doc,
  ]);
  const taken = new Set(search.map(([name]) => name));
  const own = Object.entries(resource.fields)
    .filter(([name, { kind }]) => !taken.has(name) && kind !== "json" && fieldAt(DECLARED, resource, [name]))
    .map(([name, field]): [string, Field | undefined, string] => [name, field, filterDoc(DECLARED, field)]);
  const rights: [string, Field | undefined, string][] = isGuarded(resource)
    ? ["can_change", "can_delete"].map((name) => [
        name,
        { ...resource.fields.public, choices: ["true", "false"] },
        "Only records with which you may, or may not, do this.",
      ])
    : [];
  const all = [...search, ...rights, ...own];
  const orders = own.flatMap(([name]) => [name, `-${name}`]);
  const named = new Set([...all.map(([name]) => name), "ordering", "page", "page_size", "format", FROM_FORM]);
  const kept = [...parameters].filter(([name]) => !named.has(name));
  const inputs = all.map(([name, field, doc]) => filterInput(name, field, parameters.get(name) ?? "", doc));
  const used = all.some(([name]) => parameters.has(name));
  return markup`<details class="form"${used && markup` open`}>
<summary>Filter and order</summary>
<form method="get" action="${address}">
<input type="hidden" name="${FROM_FORM}" value="1"><input type="hidden" name="format" value="api">
${kept.map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`)}
<div class="grid">${inputs}
<p>${label("filter-ordering", "order by")}${select("filter-ordering", "ordering", parameters.get("ordering") ?? "", orders)}</p>
<p>${label("filter-page_size", "page size")}<input id="filter-page_size" name="page_size" value="${parameters.get("page_size") ?? ""}" inputmode="numeric"></p>
</div>
<button>Show</button> <a href="${address}?format=api">Show all</a>
</form>
</details>`;
}

/** A form that sends JSON; `method` goes along, for forms of HTML know GET and POST only. */
function jsonForm(
  id: string,
  title: string,
  button: string,
  address: string,
  method: string,
  value: Json,
  open = false,
): Html {
  const text = JSON.stringify(value, null, 2);
  const rows = Math.min(24, text.split("\n").length + 1);
  return markup`<details class="form"${open && markup` open`}>
<summary>${title}</summary>
<form method="post" action="${address}">
<input type="hidden" name="_method" value="${method}">
${label(id, "JSON")}
<textarea id="${id}" name="_content" rows="${rows}" spellcheck="false">${text}</textarea>
<button>${button}</button>
</form>
</details>`;
}

const writable = (resource: RoutedResource): [string, Field][] =>
  Object.entries(resource.fields).filter(([, { write }]) => write !== "never");

/** For a new record: the required fields and those that a record shows, with what they are if nothing is said. */
export function createForm(resource: RoutedResource, address: string): Html {
  const fields = writable(resource).filter(
    ([, { write, shown }]) => write === "required" || shown === "always",
  );
  const body = fields.map(([name, field]): [string, Json] => [name, initialOf(field)]);
  const given = Object.fromEntries(
    body.filter(([, value], i) => fields[i][1].write === "required" || (value !== null && value !== "")),
  );
  return jsonForm("create", "Add a record", "POST", address, "POST", given);
}

function initialOf(field: Field): Json {
  if (field.write === "required" && field.choices) return field.choices[0];
  if (field.kind === "reference" || field.kind === "computed" || field.kind === "json") return null;
  const { initial } = field;
  return initial === undefined || initial === null ? "" : KINDS[field.kind].print(initial);
}

/** For one record: to change a part, to replace it, to delete it. */
export function recordForms(resource: RoutedResource, address: string, record: Record<string, Json>): Html[] {
  const names = new Set(writable(resource).map(([name]) => name));
  const body = Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name)));
  const first = [resource.nameFields[0], ...names].find((name) => name in body);
  return [
    jsonForm(
      "change",
      "Change some fields",
      "PATCH",
      address,
      "PATCH",
      first ? { [first]: body[first] } : {},
    ),
    jsonForm("replace", "Replace the record", "PUT", address, "PUT", body),
    markup`<details class="form"><summary>Delete the record</summary>
<form method="post" action="${address}"><input type="hidden" name="_method" value="DELETE">
<p>It stays in the database; lists with deleted=true show it.</p><button class="danger">DELETE</button></form></details>`,
  ];
}

/** For the records of a page: to choose some, and change or delete them together, all or none. */
export function bulkForm(
  resource: RoutedResource,
  address: string,
  records: readonly Record<string, Json>[],
): Html {
  const chosen = records
    .filter(({ id }) => id !== undefined)
    .slice(0, 200)
    .map((record, i) => {
      const id = `chosen-${i}`;
      const name =
        String(record[resource.key] ?? record[resource.nameFields[0]] ?? record.id) || String(record.id);
      return markup`<li><input type="checkbox" id="${id}" name="id" value="${String(record.id)}"> <label for="${id}">${name}</label> <a href="${address}${String(record.id)}/?format=api">open<span class="hidden"> ${name}</span></a></li>`;
    });
  if (chosen.length === 0) return markup``;
  return markup`<details class="form"><summary>Open, change or delete records of this page</summary>
<form method="post" action="${address}">
<fieldset><legend>Records</legend><ul class="choices">${chosen}</ul></fieldset>
${label("bulk", "Fields to change, as JSON")}
<textarea id="bulk" name="_content" rows="3" spellcheck="false">{}</textarea>
<button name="_method" value="PATCH">PATCH chosen records</button>
<button name="_method" value="DELETE" class="danger">DELETE chosen records</button>
</form></details>`;
}

/** Signing in for those who are not, out for those who are. */
export function sessionForm(base: string, username: string | null, next: string): Html {
  if (username !== null)
    return markup`<form method="post" action="${base}session/" class="session"><span>Signed in as <b>${username}</b></span>
<input type="hidden" name="_method" value="DELETE"><input type="hidden" name="next" value="${next}"><button>Sign out</button></form>`;
  return markup`<details class="form session"><summary>Sign in to add and change</summary>
<form method="post" action="${base}session/"><input type="hidden" name="next" value="${next}">
<p>${label("username", "Username")}<input id="username" name="username" autocomplete="username" required></p>
<p>${label("password", "Password")}<input id="password" name="password" type="password" autocomplete="current-password" required></p>
<p>${label("code", "Code, if your account has a second factor")}<input id="code" name="code" autocomplete="one-time-code"></p>
<button>Sign in</button></form></details>`;
}
