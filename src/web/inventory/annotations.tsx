import { useState } from "preact/hooks";
import { useLoaded } from "../components/loaded.tsx";
import { Button } from "../components/button.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { SelectField, TextArea, TextField } from "../components/field.tsx";
import { requestJson, get, ApiError, send } from "../request.ts";
import { attempt } from "./sub-resources.tsx";
import { api, type Declaration, type Reference } from "./declaration.ts";
import { Picker } from "./picker.tsx";
import { asText, type Row, type Value } from "./record.tsx";

/** What is said about a record, by types that say what can be said. */

interface Annotation {
  id: string;
  name: string | null;
  value: Value;
  annotation_type_id: string;
}

interface AnnotationType {
  id: string;
  name: string;
  label: string;
  help_text: string;
  type: string;
  multiple: boolean;
  value_choices: [string, string][] | null;
  choices_api: string | null;
  unit_choices_api: string | null;
  model_name?: string;
  model_type?: string;
}

const FIELDS = "id,name,label,help_text,type,multiple,value_choices,choices_api,unit_choices_api";

/** The types that fit records of this model. */
async function typesFor({ model }: Declaration, row: Row, signal: AbortSignal): Promise<AnnotationType[]> {
  const query = { response_format: "flat", page_size: "max" };
  const [annotation, property] = await Promise.all([
    get<{ results: AnnotationType[] }>("/api/v2/annotationtypes/", { ...query, fields: FIELDS }, signal),
    get<{ results: AnnotationType[] }>(
      "/api/v2/custompropertytypes/",
      { ...query, fields: `${FIELDS},model_name,model_type`, model_name: model },
      signal,
    ),
  ]);
  const kind = row.values.model_type;
  const fitting = property.results.filter(({ model_type }) => !kind || model_type === kind);
  return [...fitting, ...annotation.results];
}

/** The list that an address of choices names, as a reference to it. */
function listOf(address: string | null): Reference | undefined {
  if (address === null) return undefined;
  const { pathname, searchParams } = new URL(address, location.href);
  const segment = pathname.replace(/^.*\/api\/v2\//, "").replace(/\/$/, "");
  const filter = Object.fromEntries(
    [...searchParams].filter(
      ([name]) => !["page_size", "fields", "response_format", "format"].includes(name),
    ),
  );
  return { segment, key: segment === "locations" ? "label" : "name", printed: "id", filter };
}

export function Annotations({ of, row, onChanged }: { of: Declaration; row: Row; onChanged: () => void }) {
  const path = api(of.name, `${row.id}/annotations/`);
  const annotations = useLoaded(path, (signal) => get<{ results: Annotation[] }>(path, {}, signal));
  const types = useLoaded(row.id, (signal) => typesFor(of, row, signal));
  const again = (): void => {
    annotations.reload();
    onChanged();
  };
  const [typeId, setTypeId] = useState("");
  const [value, setValue] = useState<unknown>("");
  const [errors, setErrors] = useState<readonly string[]>([]);
  const [busy, setBusy] = useState(false);
  const type = types.value?.find(({ id }) => id === typeId);
  // Of a type that takes one value only, another one takes its place.
  const there =
    type?.multiple === false
      ? annotations.value?.results.find(({ annotation_type_id }) => annotation_type_id === typeId)
      : undefined;
  const add = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setErrors([]);
    try {
      const sent =
        type?.type === "JSON" || type?.type === "DMAPPANNOTATION" ? JSON.parse(String(value)) : value;
      if (there) await requestJson("PATCH", `${path}${there.id}/`, { body: { value: sent } });
      else await requestJson("POST", path, { body: { annotation_type_id: typeId, value: sent } });
      setTypeId("");
      setValue("");
      again();
    } catch (error) {
      const fields = error instanceof ApiError ? Object.values(error.fields).flat() : [];
      setErrors(fields.length > 0 ? fields : [(error as Error).message]);
    }
    setBusy(false);
  };
  const remove = (id: string): Promise<boolean> =>
    attempt(() => send("DELETE", `${path}${id}/`), "Taken away.", again);
  if (!annotations.value && annotations.error)
    return <ErrorBanner error={annotations.error} retry={annotations.reload} />;
  const labels = new Map(types.value?.map(({ id, label, name }) => [id, label || name]));
  return (
    <>
      {annotations.value?.results.length === 0 && <p class="muted">None.</p>}
      <dl class="pairs">
        {annotations.value?.results.map(({ id, name, value: said, annotation_type_id }) => [
          <dt key={id}>{labels.get(annotation_type_id) ?? name ?? "?"}</dt>,
          <dd key={`${id}-`} class="row">
            <span>{sayValue(said)}</span>
            {row.mayChange && (
              <Button look="quiet" onClick={() => void remove(id)}>
                Take away<span class="unseen"> {name}</span>
              </Button>
            )}
          </dd>,
        ])}
      </dl>
      {row.mayChange && types.value && (
        <form onSubmit={add}>
          <SelectField
            label="Annotate with"
            value={typeId}
            choices={[
              { value: "", name: "choose what" },
              ...types.value.map(({ id, label, name }) => ({ value: id, name: label || name })),
            ]}
            onChange={(chosen) => {
              setTypeId(chosen);
              setValue("");
              setErrors([]);
            }}
          />
          {type && (
            <>
              <AnnotationValue key={type.id} type={type} value={value} errors={errors} onChange={setValue} />
              <Button type="submit" busy={busy}>
                {there ? "Change" : "Add"}
              </Button>
            </>
          )}
        </form>
      )}
    </>
  );
}

/** The value of an annotation as text, such as `5 milligram`. */
export function sayValue(value: Value): string {
  if (Array.isArray(value)) return value.map((each) => sayValue(each as Value)).join(", ");
  if (value !== null && typeof value === "object" && "unit" in value) {
    const { value: amount, unit } = value as { value: number; unit: Value };
    return `${amount} ${asText(unit)}`;
  }
  return asText(value);
}

function AnnotationValue(props: {
  type: AnnotationType;
  value: unknown;
  errors: readonly string[];
  onChange: (value: unknown) => void;
}) {
  const { type, value, errors, onChange } = props;
  const about = { label: "Value", errors, ...(type.help_text ? { hint: type.help_text } : {}) };
  const far =
    type.type === "USER"
      ? ({ segment: "users", key: "username", printed: "key" } as const)
      : listOf(type.choices_api);
  if (type.value_choices)
    return (
      <SelectField
        {...about}
        value={String(value)}
        choices={[
          { value: "", name: "choose" },
          ...type.value_choices.map(([each, name]) => ({ value: each, name })),
        ]}
        onChange={onChange}
      />
    );
  if (far && ["OBJECT", "VOCABULARYTERM", "USER"].includes(type.type))
    return <Picker {...about} to={far} value={String(value)} onChoose={onChange} />;
  if (type.type === "NUMBERUNIT") {
    const { value: amount = "", unit = "" } = (value || {}) as { value?: string; unit?: string };
    const units = listOf(type.unit_choices_api);
    return (
      <div class="columns">
        <TextField
          {...about}
          label="Amount"
          inputMode="decimal"
          value={amount}
          onInput={(typed) => onChange({ value: typed, unit })}
        />
        {units && (
          <Picker
            label="Unit"
            to={units}
            value={unit}
            onChoose={(chosen) => onChange({ value: amount, unit: chosen })}
          />
        )}
      </div>
    );
  }
  if (type.type === "JSON" || type.type === "DMAPPANNOTATION")
    return <TextArea {...about} code value={String(value)} onInput={onChange} />;
  return (
    <TextField
      {...about}
      type={type.type === "DATE" ? "date" : "text"}
      {...(type.type === "NUMBER" ? { inputMode: "decimal" as const } : {})}
      value={String(value)}
      onInput={onChange}
    />
  );
}
