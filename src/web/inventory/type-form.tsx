import { useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { TextField } from "../components/field.tsx";
import { Card, KeyValues } from "../components/layout.tsx";
import { AnnotationInput, type AnnotationType } from "./annotations.tsx";
import { api, type Declaration, type FieldInfo } from "./declaration.ts";
import { asText, bodyOf, type RecordValue } from "./record.tsx";

/** What the form of annotation types and custom property types has besides the others. */

export const isTypeList = ({ name }: Declaration): boolean =>
  name === "annotationtypes" || name === "custompropertytypes";

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

/** How the type looks on forms and on records. */
export function TypePreview({ values }: { values: Readonly<Record<string, string>> }) {
  const [entered, setEntered] = useState<{ of: string; value: unknown; shown: string } | null>(null);
  const type = typeIn(values);
  const now =
    entered?.of === type.id ? entered : { value: values.default ?? "", shown: values.default ?? "" };
  if (!values.type) return null;
  const label = values.label || "Name";
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
          <KeyValues of={[[label, now.shown || "–"]]} />
        </div>
      </Card>
    </div>
  );
}
