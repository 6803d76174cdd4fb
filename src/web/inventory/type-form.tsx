import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { TextField } from "../components/field.tsx";
import { Card, KeyValues } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { Table } from "../components/table.tsx";
import { formatCount } from "../format.tsx";
import { get } from "../request.ts";
import { AnnotationInput, type AnnotationType } from "./annotations.tsx";
import { api, type Declaration, type FieldInfo, keyOf, pageOf, titleOf } from "./declaration.ts";
import { asText, bodyOf, type RecordValue, type Row } from "./record.tsx";

/** What the form of annotation types and custom property types has besides the others. */

export const isTypeList = ({ name }: Declaration): boolean =>
  name === "annotationtypes" || name === "custompropertytypes";

/** Whether a field has the vocabulary, or the units, of a type. */
export const isVocabulary = ({ reference }: FieldInfo): boolean =>
  reference?.segment === "vocabularies/categories";

/** A name for programs: shown as text until somebody wants to change it or it is rejected. */
export function MachineName(props: {
  label: string;
  value: string;
  errors: readonly string[] | undefined;
  onChange: (value: string) => void;
}) {
  const { label, value, errors, onChange } = props;
  const [isEditing, setEditing] = useState(false);
  if (isEditing || errors)
    return <TextField {...{ label, value, errors }} code onInput={onChange} focus={isEditing} />;
  return (
    <p class="hint row machine-name">
      <span>
        {label}: <code>{value || "–"}</code>
      </span>
      <Button look="quiet" small onClick={() => setEditing(true)}>
        Change
      </Button>
    </p>
  );
}

/** The type that the inputs of a form describe. */
export function typeIn(values: Readonly<Record<string, string>>): AnnotationType {
  const { type = "TEXT", cv_category, unit_category, choices_target } = values;
  const terms = (category: string | undefined): string =>
    api("vocabularies/terms", category ? `?category_id=${category}` : "?category__kind=unit");
  const [segment, query] = (choices_target ?? "").split("?");
  const objects = segment ? api(segment, query ? `?${query}` : "") : null;
  return {
    id: [type, cv_category, unit_category, choices_target].join(),
    name: values.name ?? "",
    label: values.label ?? "",
    help_text: values.help_text ?? "",
    type,
    multiple: values.multiple === "true",
    value_choices:
      type === "TEXT" && values.value_choices
        ? (bodyOf(values.value_choices, { form: { lines: "pairs" } } as FieldInfo) as [string, string][])
        : null,
    choices_api: type === "VOCABULARYTERM" ? (cv_category ? terms(cv_category) : null) : objects,
    unit_choices_api: terms(unit_category),
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
    return get<Found>(api(list!), { ...query, page_size: String(size) }, signal);
  }).value;

const SHOWN_TERMS = 3;

/** Some terms of a vocabulary, and where it can be edited. */
export function Terms({ category }: { category: string }) {
  const found = useFirst("vocabularies/terms", "name", SHOWN_TERMS, { category_id: category });
  if (!found) return null;
  const names = found.results.map(({ name }) => name).join(", ");
  const more = found.total - found.results.length;
  return (
    <p class="hint beside">
      {names === ""
        ? "It has no terms yet."
        : more > 0
          ? `${names} and ${formatCount(more)} more.`
          : `${names}.`}{" "}
      <a href={href(pageOf("vocabularies/terms"), { category_id: category })} target="_blank" rel="noopener">
        Edit vocabulary
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
function useExamples(type: AnnotationType, category: string | undefined): readonly string[] {
  const vocabulary = type.type === "VOCABULARYTERM" && category ? category : null;
  const terms = useFirst(vocabulary && "vocabularies/terms", "name", 2, { category_id: vocabulary ?? "" });
  if (vocabulary) return terms?.results.map(({ name }) => name) ?? [];
  return type.value_choices?.map(([, name]) => name) ?? EXAMPLES[type.type] ?? [];
}

/** How the type looks on forms, on records and in lists. */
export function TypePreview({ of, values }: { of: Declaration; values: Readonly<Record<string, string>> }) {
  const [entered, setEntered] = useState<{ of: string; value: unknown; shown: string } | null>(null);
  const type = typeIn(values);
  const examples = useExamples(type, values.cv_category);
  const now =
    entered?.of === type.id ? entered : { value: values.default ?? "", shown: values.default ?? "" };
  const label = values.label || "Name";
  const shown = [now.shown || examples[0] || "–", examples[1] || "–"];
  return (
    <div>
      <Card title="Preview">
        <AnnotationInput
          key={type.id}
          type={type}
          label={label}
          optional={values.mandatory !== "true"}
          value={now.value}
          errors={[]}
          onChange={(value, name) =>
            setEntered({ of: type.id, value, shown: name ?? asText(value as RecordValue) })
          }
        />
        <h3>On a record</h3>
        <div class="note">
          <KeyValues of={[[label, shown[0]]]} />
        </div>
        <h3>In a list</h3>
        <ListPreview segment={segmentFor(of, values.model_name ?? "")} label={label} shown={shown} />
      </Card>
    </div>
  );
}

/** The list of the records that a type is for, or that of consumables. */
function segmentFor({ fields }: Declaration, model: string): string {
  const name = fields.model_name?.form?.words?.[model]?.[0];
  const lists = Object.entries(fields.choices_target?.form?.words ?? {});
  return lists.find(([, [word]]) => word === name)?.[0] ?? "stocks/consumables";
}

function ListPreview(props: { segment: string; label: string; shown: readonly string[] }) {
  const { segment, label, shown } = props;
  const key = keyOf(segment);
  const records = useFirst(segment, key, 2)?.results ?? [];
  return (
    <div class="card">
      <Table
        caption="In a list"
        rows={shown.map((value, i) => ({ name: records[i]?.[key] ?? `Record ${i + 1}`, value }))}
        keyOf={({ name }) => name}
        columns={[
          { name: "name", title: "Name", heading: true, cell: ({ name }) => name },
          { name: "value", title: label, cell: ({ value }) => value, phone: "end" },
        ]}
      />
    </div>
  );
}

/** In how many records of each list a type is used. */
export function TypeUsage({ of, row }: { of: Declaration; row: Row }) {
  const field = `annotations__${asText(row.values.name)}`;
  const filter = { [`${field}__isnull`]: "false" };
  const found = useLoaded(row.id, async (signal) => {
    const lists = Object.keys(of.fields.choices_target?.form?.words ?? {});
    const totals = await Promise.allSettled(
      lists.map(async (segment) => {
        const query = { ...filter, fields: "id", page_size: "1" };
        return { segment, total: (await get<Found>(api(segment), query, signal)).total };
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
                <a href={href(pageOf(segment), filter)}>{titleOf(segment)}</a>
                <span class="count end">{formatCount(total)}</span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}
