import { type Field, type Json, KINDS } from "../model/field.ts";
import { searchFilters } from "../model/filter.ts";
import { fieldAt, isGuarded } from "../model/resource.ts";
import { filterDoc } from "../model/schema.ts";
import { DECLARED, type RoutedResource } from "../resources/index.ts";
import type { Call } from "./call.ts";
import { type Html, markup } from "../../platform/html.ts";

/** Forms of the browsable pages, generated from the declarations. They need no scripts; form-request.ts handles them. */

/** Hidden parameter of the filter form, whose empty fields browsers send too. */
export const FROM_FORM = "_form";

const label = (id: string, text: string): Html => markup`<label for="${id}">${text}</label>`;

function select(id: string, name: string, value: string, choices: readonly string[]): Html {
  const options = choices.map((choice) =>
    choice === value ? markup`<option selected>${choice}</option>` : markup`<option>${choice}</option>`,
  );
  return markup`<select id="${id}" name="${name}"><option value="">–</option>${options}</select>`;
}

const details = (title: string, content: Html, isOpen = false): Html =>
  markup`<details class="form"${isOpen && markup` open`}>
<summary>${title}</summary>
${content}
</details>`;

interface Filter {
  name: string;
  doc: string;
  choices?: readonly string[] | undefined;
}

const FLAGS = ["true", "false"];

function filtersOf(resource: RoutedResource): { search: Filter[]; fields: Filter[] } {
  const search = searchFilters(resource).map(({ name, doc }) => ({ name, doc }));
  const taken = new Set(search.map(({ name }) => name));
  const fields = Object.entries(resource.fields)
    .filter(([name, { kind }]) => !taken.has(name) && kind !== "json" && fieldAt(DECLARED, resource, [name]))
    .map(([name, field]): Filter => {
      const flags = name === "deleted" ? [...FLAGS, "all"] : FLAGS;
      const choices = field.kind === "flag" ? flags : field.choices;
      return { name, doc: filterDoc(DECLARED, field), choices };
    });
  if (isGuarded(resource))
    for (const verb of ["change", "delete"])
      search.push({
        name: `can_${verb}`,
        doc: `Only records that you may, or may not, ${verb}.`,
        choices: FLAGS,
      } as Filter);
  return { search, fields };
}

/** The filters of a list with their current values; other parameters are kept. */
export function filterForm(resource: RoutedResource, url: string, parameters: URLSearchParams): Html {
  const { search, fields } = filtersOf(resource);
  const filters = [...search, ...fields];
  const orders = fields.flatMap(({ name }) => [name, `-${name}`]);
  const named = new Set(["ordering", "page", "page_size", "format", FROM_FORM]);
  for (const { name } of filters) named.add(name);
  const hidden = [...parameters].filter(([name]) => !named.has(name));
  const valueOf = (name: string): string => parameters.get(name) ?? "";
  const inputs = filters.map(({ name, doc, choices }) => {
    const id = `filter-${name}`;
    const input = choices
      ? select(id, name, valueOf(name), choices)
      : markup`<input id="${id}" name="${name}" value="${valueOf(name)}">`;
    return markup`<p title="${doc}">${label(id, name.replaceAll("_", " "))}${input}</p>`;
  });
  const content = markup`<form method="get" action="${url}">
<input type="hidden" name="${FROM_FORM}" value="1"><input type="hidden" name="format" value="api">
${hidden.map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`)}
<div class="grid">${inputs}
<p>${label("filter-ordering", "Order by")}${select("filter-ordering", "ordering", valueOf("ordering"), orders)}</p>
<p>${label("filter-page_size", "Page size")}<input id="filter-page_size" name="page_size" value="${valueOf("page_size")}" inputmode="numeric"></p>
</div>
<button>Apply</button> <a href="${url}?format=api">Clear</a>
</form>`;
  return details(
    "Filter and order",
    content,
    filters.some(({ name }) => parameters.has(name)),
  );
}

/** A form that sends JSON. `method` is a field, because HTML forms can only GET and POST. */
function jsonForm(id: string, title: string, url: string, method: string, value: Json): Html {
  const text = JSON.stringify(value, null, 2);
  const rows = Math.min(24, text.split("\n").length + 1);
  return details(
    title,
    markup`<form method="post" action="${url}">
<input type="hidden" name="_method" value="${method}">
${label(id, "JSON")}
<textarea id="${id}" name="_content" rows="${rows}" spellcheck="false">${text}</textarea>
<button>${method}</button>
</form>`,
  );
}

const writable = (resource: RoutedResource): [string, Field][] =>
  Object.entries(resource.fields).filter(([, { write }]) => write !== "never");

/** For a new record: the required fields, and those with a default that is shown. */
export function createForm(resource: RoutedResource, url: string): Html {
  const fields = writable(resource).flatMap(([name, field]): [string, Json][] => {
    const value = defaultOf(field);
    const isNeeded =
      field.write === "required" || (field.shown === "always" && value !== null && value !== "");
    return isNeeded ? [[name, value]] : [];
  });
  return jsonForm("create", "Add a record", url, "POST", Object.fromEntries(fields));
}

function defaultOf(field: Field): Json {
  if (field.write === "required" && field.choices) return field.choices[0];
  if (field.kind === "reference" || field.kind === "computed" || field.kind === "json") return null;
  const { initial } = field;
  return initial === undefined || initial === null ? "" : KINDS[field.kind].print(initial);
}

/** For one record: update, replace, delete. */
export function recordForms(resource: RoutedResource, url: string, record: Record<string, Json>): Html[] {
  const names = new Set(writable(resource).map(([name]) => name));
  const body = Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name)));
  const first = [resource.nameFields[0], ...names].find((name) => name in body);
  return [
    jsonForm("change", "Edit some fields", url, "PATCH", first ? { [first]: body[first] } : {}),
    jsonForm("replace", "Replace the record", url, "PUT", body),
    details(
      "Delete the record",
      markup`<form method="post" action="${url}"><input type="hidden" name="_method" value="DELETE">
<p>The record stays in the database; lists with deleted=true show it.</p><button class="danger">DELETE</button></form>`,
    ),
  ];
}

/** A form that was sent, again, with the confirmation that the answer asked for. */
export function confirmForm(url: string, fields: URLSearchParams, confirm: string): Html {
  const inputs = [...fields].map(
    ([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`,
  );
  return markup`<form method="post" action="${url}?confirm=${encodeURIComponent(confirm)}">${inputs}<button>Confirm</button></form>`;
}

/** For the records of a page: update or delete the selected ones, all or none. */
export function bulkForm(
  resource: RoutedResource,
  url: string,
  records: readonly Record<string, Json>[],
): Html {
  const choices = records
    .filter(({ id }) => id !== undefined)
    .slice(0, 200)
    .map((record, i) => {
      const id = String(record.id);
      const name = String(record[resource.key] ?? record[resource.nameFields[0]] ?? id) || id;
      return markup`<li><input type="checkbox" id="chosen-${i}" name="id" value="${id}"> <label for="chosen-${i}">${name}</label> <a href="${url}${id}/?format=api">open<span class="hidden"> ${name}</span></a></li>`;
    });
  if (choices.length === 0) return markup``;
  return details(
    "Open, edit or delete records of this page",
    markup`<form method="post" action="${url}">
<fieldset><legend>Records</legend><ul class="choices">${choices}</ul></fieldset>
${label("bulk", "Fields to change, as JSON")}
<textarea id="bulk" name="_content" rows="3" spellcheck="false">{}</textarea>
<button name="_method" value="PATCH">PATCH selected records</button>
<button name="_method" value="DELETE" class="danger">DELETE selected records</button>
</form>`,
  );
}

/** Sign-in, or sign-out. */
export function sessionForm({ actor: { username }, base, path, url }: Call): Html {
  const next = path + url.pathname + url.search;
  if (username !== null)
    return markup`<form method="post" action="${base}session/" class="session"><span>Signed in as <b>${username}</b></span>
<input type="hidden" name="_method" value="DELETE"><input type="hidden" name="next" value="${next}"><button>Sign out</button></form>`;
  return markup`<details class="form session"><summary>Sign in to add and edit records</summary>
<form method="post" action="${base}session/"><input type="hidden" name="next" value="${next}">
<p>${label("username", "Username")}<input id="username" name="username" autocomplete="username" required></p>
<p>${label("password", "Password")}<input id="password" name="password" type="password" autocomplete="current-password" required></p>
<p>${label("code", "Second factor, if set up")}<input id="code" name="code" autocomplete="one-time-code"></p>
<button>Sign in</button></form></details>`;
}
