import { useState } from "preact/hooks";
import { Button, IconButton } from "../components/button.tsx";
import { SelectField } from "../components/field.tsx";
import { FormError, useFirstFocus, useSubmission } from "../components/form.tsx";
import { Card, Tag } from "../components/layout.tsx";
import { Loaded } from "../components/loaded.tsx";
import { ApiError, call } from "../request.ts";
import { useSession } from "../session.ts";
import { findAnnotation, type FieldInfo } from "./declaration.ts";
import { formatText, parseInput, type RecordValue, Value } from "./record.tsx";
import { deletePart, readParts } from "./read-list.ts";
import { type SubResourceProps, useSubResource } from "./sub-resource.ts";
import { ValueInput } from "./value-input.tsx";

/** Annotations of a record, by types that say what values they take. */

interface Annotation {
  id: string;
  name: string | null;
  value: RecordValue;
  annotation_type_id: string;
}

/** The annotations that a record can have: custom properties are for records of one kind, read-only ones for administrators. */
const makeAnnotationList = ({ of, row }: SubResourceProps, isSuperuser: boolean): [string, FieldInfo][] =>
  Object.entries(of.annotations)
    .filter(([, { write, annotation }]) => {
      const kind = row.values.model_type;
      const fits = annotation!.model_type === "" || !kind || annotation!.model_type === kind;
      return fits && (write !== "never" || isSuperuser);
    })
    .toSorted(
      ([, a], [, b]) => Number(b.annotation!.model_type !== "") - Number(a.annotation!.model_type !== ""),
    );

export function Annotations(props: SubResourceProps) {
  const { of, row, onChanged } = props;
  const params = { list: of.name, id: row.id, part: "annotations" };
  const { loaded, reload, change } = useSubResource(
    `annotations of ${row.id}`,
    (signal) => readParts<Annotation>(params, {}, signal),
    onChanged,
  );
  const [isAdding, setAdding] = useState(false);
  const findTypeField = (type: string): FieldInfo | undefined =>
    of.annotations[findAnnotation(of, type) ?? ""];
  return (
    <Card
      title="Metadata"
      count={loaded.value?.length}
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
        {(results) => (
          <>
            <dl class="kv">
              {results.map(({ id, name, value, annotation_type_id }) => [
                <dt key={id}>{findTypeField(annotation_type_id)?.label ?? name ?? "Hidden type"}</dt>,
                <dd key={`${id}=`} class="row">
                  <AnnotationValue value={value} field={findTypeField(annotation_type_id)} />
                  {row.mayChange && (
                    <IconButton
                      icon="x"
                      label={`Remove ${findTypeField(annotation_type_id)?.label ?? name}`}
                      onClick={() => void change(() => deletePart(params, id), "Removed.")}
                    />
                  )}
                </dd>,
              ])}
            </dl>
            {isAdding && <AddAnnotation {...props} existing={results} onAdded={reload} />}
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
          <Tag key={formatText(each)}>{formatText(each, field)}</Tag>
        ))}
      </span>
    );
  return (
    <span class="grow anywhere">
      {field?.annotation?.type === "OBJECT" ? (
        <Value value={value} field={field} />
      ) : (
        formatText(value, field)
      )}
    </span>
  );
}

function AddAnnotation(props: SubResourceProps & { existing: readonly Annotation[]; onAdded: () => void }) {
  const { of, row, existing } = props;
  const offered = makeAnnotationList(props, useSession()?.user.is_superuser === true);
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const field = of.annotations[name];
  // A type with a single value replaces it.
  const replaced =
    field?.annotation?.multiple === false
      ? existing.find(({ annotation_type_id }) => annotation_type_id === field.annotation!.id)
      : undefined;
  const form = useSubmission(async () => {
    const sent = parseInput(value, field);
    const body = { annotation_type_id: field.annotation!.id, value: sent };
    const params = { list: of.name, id: row.id, part: "annotations" };
    if (replaced)
      await call("PATCH /api/v2/:list/:id/:part/:sub_id/", {
        params: { ...params, sub_id: replaced.id },
        body: { value: body.value },
      });
    else await call("POST /api/v2/:list/:id/:part/", { params, body });
    setName("");
    setValue("");
    props.onAdded();
  });
  const element = useFirstFocus(existing);
  const { error } = form;
  const errors = error instanceof ApiError ? Object.values(error.fields).flat() : [];
  return (
    <form ref={element} class="form" onSubmit={form.submit}>
      <SelectField
        label="Annotation to add"
        value={name}
        choices={[
          { value: "", name: "Choose a type" },
          ...offered.map(([each, { label }]) => ({ value: each, name: label })),
        ]}
        onChange={(chosen) => {
          setName(chosen);
          setValue("");
        }}
      />
      {field && (
        <>
          <ValueInput
            key={name}
            segment={of.name}
            name={name}
            field={{ ...field, write: "required" }}
            label="Value"
            value={value}
            errors={errors}
            onChange={setValue}
          />
          {errors.length === 0 && <FormError of={form} shown={[]} />}
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
