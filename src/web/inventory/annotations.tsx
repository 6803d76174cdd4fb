import { useState } from "preact/hooks";
import { Button, IconButton } from "../components/button.tsx";
import { SelectField, TextArea, TextField } from "../components/field.tsx";
import { FormError, useFirstFocus, useSubmission } from "../components/form.tsx";
import { Card, Tag } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { ApiError, get, requestJson } from "../request.ts";
import { annotationOfType, api, type FieldInfo, type Reference, referenceTo } from "./declaration.ts";
import { Picker } from "./picker.tsx";
import { asText, parseJson, type RecordValue, Value } from "./record.tsx";
import { type SubResourceProps, useSubResource } from "./sub-resource.ts";

/** Annotations of a record, by types that say what values they take. */

interface Annotation {
  id: string;
  name: string | null;
  value: RecordValue;
  annotation_type_id: string;
}

export interface AnnotationType {
  id: string;
  name: string;
  label: string;
  help_text: string;
  type: string;
  multiple: boolean;
  value_choices: [string, string][] | null;
  choices_api: string | null;
  unit_choices_api: string | null;
  model_type?: string;
}

const FIELDS = "id,name,label,help_text,type,multiple,value_choices,choices_api,unit_choices_api";
const isJson = ({ type }: AnnotationType): boolean => type === "JSON" || type === "DMAPPANNOTATION";

/** The annotation types for a record. */
async function typesFor({ of, row }: SubResourceProps, signal: AbortSignal): Promise<AnnotationType[]> {
  const read = (list: string, query: Record<string, string>): Promise<{ results: AnnotationType[] }> =>
    get(api(list), { response_format: "flat", page_size: "max", ...query }, signal);
  const [annotation, property] = await Promise.all([
    read("annotationtypes", { fields: FIELDS }),
    read("custompropertytypes", { fields: `${FIELDS},model_name,model_type`, model_name: of.model }),
  ]);
  const kind = row.values.model_type;
  return [
    ...property.results.filter(({ model_type }) => !kind || model_type === kind),
    ...annotation.results,
  ];
}

const DISPLAY = new Set(["page_size", "fields", "response_format", "format"]);

/** The list that an address of choices names. */
function referenceOf(address: string | null): Reference | undefined {
  if (address === null) return undefined;
  const { pathname, searchParams } = new URL(address, location.href);
  const segment = pathname.replace(/^.*\/api\/v2\//, "").replace(/\/$/, "");
  const filter = Object.fromEntries([...searchParams].filter(([name]) => !DISPLAY.has(name)));
  return referenceTo(segment, filter);
}

export function Annotations(props: SubResourceProps) {
  const { of, row, onChanged } = props;
  const path = api(of.name, `${row.id}/annotations/`);
  const { loaded, reload, change } = useSubResource<{ results: Annotation[] }>(path, onChanged);
  const types = useLoaded(row.id, (signal) => typesFor(props, signal));
  const [isAdding, setAdding] = useState(false);
  const labels = new Map(types.value?.map(({ id, label, name }) => [id, label || name]));
  return (
    <Card
      title="Metadata"
      count={loaded.value?.results.length}
      actions={
        row.mayChange && (
          <Button
            look="quiet"
            small
            icon="plus"
            aria-label="Add metadata"
            onClick={() => setAdding(!isAdding)}
          >
            Add
          </Button>
        )
      }
    >
      <Loaded of={loaded}>
        {({ results }) => (
          <>
            <dl class="kv">
              {results.map(({ id, name, value, annotation_type_id }) => [
                <dt key={id}>{labels.get(annotation_type_id) ?? name ?? "Hidden type"}</dt>,
                <dd key={`${id}=`} class="row">
                  <AnnotationValue
                    value={value}
                    field={of.annotations[annotationOfType(of, annotation_type_id) ?? ""]}
                  />
                  {row.mayChange && (
                    <IconButton
                      icon="x"
                      label={`Remove ${labels.get(annotation_type_id) ?? name}`}
                      onClick={() => void change("DELETE", `${id}/`, "Removed.")}
                    />
                  )}
                </dd>,
              ])}
            </dl>
            {isAdding && types.value && (
              <AddAnnotation path={path} types={types.value} existing={results} onAdded={reload} />
            )}
            {!isAdding && results.length === 0 && <p class="muted">None yet</p>}
          </>
        )}
      </Loaded>
    </Card>
  );
}

/** Several values as tags, records as links. */
function AnnotationValue({ value, field }: { value: RecordValue; field: FieldInfo | undefined }) {
  if (Array.isArray(value) && field?.kind !== "json")
    return (
      <span class="row grow">
        {value.map((each: RecordValue) => (
          <Tag key={asText(each)}>{asText(each)}</Tag>
        ))}
      </span>
    );
  return (
    <span class="grow anywhere">
      {field?.annotation?.type === "OBJECT" ? <Value value={value} field={field} /> : asText(value)}
    </span>
  );
}

function AddAnnotation(props: {
  path: string;
  types: readonly AnnotationType[];
  existing: readonly Annotation[];
  onAdded: () => void;
}) {
  const { path, types, existing } = props;
  const [typeId, setTypeId] = useState("");
  const [value, setValue] = useState<unknown>("");
  const type = types.find(({ id }) => id === typeId);
  // A type with a single value replaces it.
  const replaced =
    type?.multiple === false
      ? existing.find(({ annotation_type_id }) => annotation_type_id === typeId)
      : undefined;
  const form = useSubmission(async () => {
    const sent = type && isJson(type) ? parseJson(String(value), type.label || type.name) : value;
    if (replaced) await requestJson("PATCH", `${path}${replaced.id}/`, { body: { value: sent } });
    else await requestJson("POST", path, { body: { annotation_type_id: typeId, value: sent } });
    setTypeId("");
    setValue("");
    props.onAdded();
  });
  const element = useFirstFocus(existing);
  const { error } = form;
  const fieldErrors = error instanceof ApiError ? Object.values(error.fields).flat() : [];
  return (
    <form ref={element} class="form" onSubmit={form.submit}>
      <SelectField
        label="What to add"
        value={typeId}
        choices={[
          { value: "", name: "Choose a type" },
          ...types.map(({ id, label, name }) => ({ value: id, name: label || name })),
        ]}
        onChange={(chosen) => {
          setTypeId(chosen);
          setValue("");
        }}
      />
      {type && (
        <>
          <AnnotationInput key={type.id} type={type} value={value} errors={fieldErrors} onChange={setValue} />
          {fieldErrors.length === 0 && <FormError of={form} shown={[]} />}
          <div>
            <Button type="submit" busy={form.busy}>
              {replaced ? "Replace" : "Add"}
            </Button>
          </div>
        </>
      )}
    </form>
  );
}

const USERS: Reference = { segment: "users", key: "username", printed: "key" };

/** The input for a value of a type. */
export function AnnotationInput(props: {
  type: AnnotationType;
  value: unknown;
  errors: readonly string[];
  label?: string;
  optional?: boolean;
  onChange: (value: unknown, name?: string) => void;
}) {
  const { type, value, errors, onChange } = props;
  const { label = "Value", optional } = props;
  const labelled = { label, optional, errors, ...(type.help_text ? { hint: type.help_text } : {}) };
  const text = { ...labelled, value: String(value), onInput: onChange };
  if (type.value_choices)
    return (
      <SelectField
        {...labelled}
        value={String(value)}
        choices={[
          { value: "", name: "Choose a value" },
          ...type.value_choices.map(([each, name]) => ({ value: each, name })),
        ]}
        onChange={onChange}
      />
    );
  const to = type.type === "USER" ? USERS : referenceOf(type.choices_api);
  if (to && ["OBJECT", "VOCABULARYTERM", "USER"].includes(type.type))
    return <Picker {...labelled} to={to} value={String(value)} onChoose={onChange} creates />;
  if (type.type === "NUMBERUNIT") return <AmountInput {...props} labelled={labelled} />;
  if (type.type === "BOOLEAN")
    return (
      <SelectField
        {...labelled}
        value={String(value)}
        choices={[
          { value: "", name: "Choose a value" },
          { value: "true", name: "yes" },
          { value: "false", name: "no" },
        ]}
        onChange={onChange}
      />
    );
  if (isJson(type)) return <TextArea {...text} code />;
  const isNumber = type.type === "NUMBER";
  return (
    <TextField
      {...text}
      type={type.type === "DATE" ? "date" : "text"}
      {...(isNumber ? { inputMode: "decimal" as const } : {})}
    />
  );
}

function AmountInput(props: {
  type: AnnotationType;
  value: unknown;
  labelled: { errors: readonly string[] };
  label?: string;
  onChange: (value: unknown, name?: string) => void;
}) {
  const { type, value, label, labelled, onChange } = props;
  const { value: amount = "", unit = "" } = (value || {}) as { value?: string; unit?: string };
  const units = referenceOf(type.unit_choices_api);
  const [unitName, setUnitName] = useState("");
  return (
    <div class="columns">
      <TextField
        {...labelled}
        label={label ?? "Amount"}
        inputMode="decimal"
        value={amount}
        onInput={(typed) => onChange({ value: typed, unit }, `${typed} ${unitName}`)}
      />
      {units && (
        <Picker
          label="Unit"
          to={units}
          value={unit}
          onChoose={(chosen, name) => {
            setUnitName(name);
            onChange({ value: amount, unit: chosen }, `${amount} ${name}`);
          }}
        />
      )}
    </div>
  );
}
