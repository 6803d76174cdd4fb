import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { Card, KeyValues } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { Table } from "../components/table.tsx";
import { formatCount } from "../format.tsx";
import {
  type Declaration,
  type FieldInfo,
  keyField,
  LISTS,
  pagePath,
  type Reference,
  referenceTo,
  listTitle,
  USERS,
} from "./declaration.ts";
import { formatText, parseInput, type Row } from "./record.tsx";
import { ValueInput } from "./value-input.tsx";
import { countRecords, readList } from "./read-list.ts";

type Values = Readonly<Record<string, string>>;

/** Parts of the form of annotation types and custom property types that other forms do not have. */

export const isTypeList = ({ name }: Declaration): boolean =>
  name === "annotationtypes" || name === "custompropertytypes";

/** True if a field has the vocabulary, or the units, of a type. */
export const isVocabulary = ({ reference }: FieldInfo): boolean =>
  reference?.segment === "vocabularies/categories";

const KINDS: Readonly<Record<string, FieldInfo["kind"]>> = {
  NUMBER: "number",
  DATE: "date",
  BOOLEAN: "flag",
  JSON: "json",
  DMAPPANNOTATION: "json",
  VOCABULARYTERM: "reference",
  USER: "reference",
};

/** The records that values of a type refer to. */
function referenceIn({ type, cv_category: category, choices_target = "" }: Values): Reference | null {
  if (type === "USER") return USERS;
  if (type === "VOCABULARYTERM") return category ? termReference(category) : null;
  const [segment, query] = choices_target.split("?");
  const filter = Object.fromEntries(new URLSearchParams(query));
  return type === "OBJECT" && segment ? referenceTo(segment, filter) : null;
}

/** The terms of a vocabulary; all units without one. */
const termReference = (category: string | undefined): Reference =>
  referenceTo("vocabularies/terms", category ? { category_id: category } : { category__kind: "unit" });

/** The annotation of the type that a form describes. */
export function findAnnotation(values: Values): FieldInfo {
  const { type = "TEXT", value_choices: typed } = values;
  const lines = { form: { lines: "pairs" } } as FieldInfo;
  const pairs = type === "TEXT" && typed ? (parseInput(typed, lines) as [string, string][]) : null;
  return {
    kind: KINDS[type] ?? "text",
    label: values.label || "Name",
    help_text: values.help_text ?? "",
    shown: "extra",
    write: values.mandatory === "true" ? "required" : "optional",
    nullable: true,
    max_length: null,
    choices: pairs && pairs.map(([value]) => value),
    form: pairs && { words: Object.fromEntries(pairs.map(([value, label]) => [value, [label]])) },
    rule: null,
    reference: referenceIn(values),
    lookups: [],
    sortable: false,
    for_clients: false,
    annotation: {
      id: "",
      model_type: "",
      type,
      multiple: values.multiple === "true",
      used: false,
      list_visibility: "ALWAYS",
      units: type === "NUMBERUNIT" ? termReference(values.unit_category) : null,
    },
  };
}

interface Found {
  total: number;
  results: Record<string, string>[];
}

/** The first records of a list. */
const useFirst = (list: string | null, field: string, size: number, filter: Record<string, string> = {}) =>
  useLoaded(list && JSON.stringify([list, filter]), (signal) => {
    const query = { ...filter, fields: `id,${field}`, ordering: field, response_format: "flat" };
    return readList<Found["results"][number]>(list!, { ...query, page_size: size }, signal);
  }).value;

const SHOWN_TERMS = 3;

/** Some terms of a choice list, and where it can be edited. */
export function Terms({ category }: { category: string }) {
  const found = useFirst("vocabularies/terms", "name", SHOWN_TERMS, { category_id: category });
  if (!found) return null;
  const names = found.results.map(({ name }) => name).join(", ");
  const more = found.total - found.results.length;
  return (
    <p class="hint beside">
      {names === ""
        ? "The choice list has no terms yet."
        : more > 0
          ? `${names} and ${formatCount(more)} more.`
          : `${names}.`}{" "}
      <a
        href={href(pagePath("vocabularies/terms"), { category_id: category })}
        target="_blank"
        rel="noopener"
      >
        Edit choice list
      </a>
    </p>
  );
}

/** Values of two records in the list of the preview. */
const EXAMPLES: Readonly<Record<string, readonly [string, string]>> = {
  NUMBER: ["12", "8.5"],
  NUMBERUNIT: ["12 mg", "8.5 mg"],
  DATE: ["30 Jun 2027", "4 Dec 2026"],
  BOOLEAN: ["yes", "no"],
};

/** Two values that records may have. */
function useExamples({ annotation, choices, form }: FieldInfo, category = ""): readonly string[] {
  const isVocabulary = annotation!.type === "VOCABULARYTERM" && category !== "";
  const terms = useFirst(isVocabulary ? "vocabularies/terms" : null, "name", 2, { category_id: category });
  if (isVocabulary) return terms?.results.map(({ name }) => name) ?? [];
  return choices?.map((choice) => form!.words![choice][0]) ?? EXAMPLES[annotation!.type] ?? [];
}

/** Preview of the type in forms, records and lists. */
export function TypePreview({ of, values }: { of: Declaration; values: Values }) {
  const { type, cv_category, unit_category, choices_target, model_name } = values;
  const key = [type, cv_category, unit_category, choices_target].join();
  const [entered, setEntered] = useState<{ of: string; value: string; shown: string } | null>(null);
  const field = findAnnotation(values);
  const examples = useExamples(field, cv_category);
  const initial = values.default ?? "";
  const now = entered?.of === key ? entered : { value: initial, shown: initial };
  const shown = [now.shown || examples[0] || "–", examples[1] || "–"];
  const list = Object.keys(LISTS).find((segment) => model_name && LISTS[segment].model === model_name);
  return (
    <div>
      <Card title="Preview">
        <ValueInput
          key={key}
          segment={of.name}
          name="default"
          field={field}
          value={now.value}
          onChange={(value, name) => setEntered({ of: key, value, shown: name ?? formatText(value, field) })}
        />
        <h3>On a record</h3>
        <div class="note">
          <KeyValues of={[[field.label, shown[0]]]} />
        </div>
        <h3>In a list</h3>
        <ListPreview segment={list ?? "stocks/consumables"} label={field.label} shown={shown} />
      </Card>
    </div>
  );
}

function ListPreview(props: { segment: string; label: string; shown: readonly string[] }) {
  const { segment, label, shown } = props;
  const key = keyField(segment);
  const records = useFirst(segment, key, 2)?.results ?? [];
  return (
    <div class="card">
      <Table
        caption="In a list"
        rows={shown.map((value, i) => ({ name: records[i]?.[key] ?? `Record ${i + 1}`, value }))}
        rowKey={({ name }) => name}
        columns={[
          { name: "name", title: "Name", heading: true, cell: ({ name }) => name },
          { name: "value", title: label, cell: ({ value }) => value, phone: "end" },
        ]}
      />
    </div>
  );
}

/** Number of records of each list that use a type. */
export function TypeUsage({ of, row }: { of: Declaration; row: Row }) {
  const field = `annotations__${formatText(row.values.name)}`;
  const filter = { [`${field}__isnull`]: "false" };
  const found = useLoaded(row.id, async (signal) => {
    const lists = Object.keys(of.fields.choices_target?.form?.words ?? {});
    const totals = await Promise.allSettled(
      lists.map(async (segment) => {
        return { segment, total: await countRecords(segment, filter, signal) };
      }),
    );
    // Lists of records that cannot have it refuse the filter.
    return totals.flatMap((each) =>
      each.status === "fulfilled" && each.value.total > 0 ? [each.value] : [],
    );
  });
  return (
    <Card title="Used in" bare>
      <Loaded of={found}>
        {(lists) => (
          <ul class="list">
            {lists.length === 0 && <li class="muted">No record that you can view has a value.</li>}
            {lists.map(({ segment, total }) => (
              <li key={segment}>
                <a href={href(pagePath(segment), filter)}>{listTitle(segment)}</a>
                <span class="count end">{formatCount(total)}</span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}
