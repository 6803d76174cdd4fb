import { useId } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Select } from "../components/field.tsx";
import { useLoaded } from "../components/loaded.tsx";
import {
  columnTitle,
  parseConstant,
  type Declaration,
  declaration,
  type FieldInfo,
  findField,
  isConstant,
  listedAnnotations,
  splitPath,
  formatChoice,
  formatConstant,
} from "./declaration.ts";
import { type Comparison, comparison, type Form, type Group } from "./expression.ts";
import { Picker } from "./picker.tsx";
import { Suggestions } from "./value-input.tsx";

/** Lookups in the order in which they are offered, and in words. */
const LOOKUPS: Readonly<Record<string, string>> = {
  icontains: "contains",
  exact: "is",
  istartswith: "starts with",
  iendswith: "ends with",
  gte: "is at least",
  lte: "is at most",
  gt: "is more than",
  lt: "is less than",
  iexact: "is (any case)",
  contains: "contains (exact case)",
  startswith: "starts with (exact case)",
  endswith: "ends with (exact case)",
};
const NEGATED_LOOKUPS: Readonly<Record<string, string>> = { exact: "is not", icontains: "does not contain" };
const GROUPS = [
  ["and", "All conditions apply"],
  ["or", "Any condition applies"],
  ["not and", "Not all conditions apply"],
  ["not or", "No condition applies"],
] as const;
/** References that a path may cross. */
const MAX_REFERENCES = 4;
const MAX_DEPTH = 3;

/** Edits a filter: conditions, and groups of conditions. */
export function FilterBuilder(props: {
  of: Declaration;
  group: Group;
  onChange: (group: Group) => void;
  depth?: number;
  onRemove?: () => void;
}) {
  const { of, group, onChange, depth = 0, onRemove } = props;
  const replace = (at: number, ...parts: Form[]): void =>
    onChange({ ...group, parts: group.parts.toSpliced(at, 1, ...parts) });
  const add = (part: Form): void => onChange({ ...group, parts: [...group.parts, part] });
  return (
    <fieldset class="filter-group stack">
      <legend>
        <Select
          small
          label="How conditions are combined"
          value={`${group.not ? "not " : ""}${group.kind}`}
          choices={GROUPS}
          onChange={(chosen) => {
            const [kind, not] = chosen.split(" ").reverse();
            onChange({ ...group, kind: kind as Group["kind"], not: not === "not" });
          }}
        />
      </legend>
      {group.parts.map((part, i) => {
        const common = { of, onChange: (changed: Form) => replace(i, changed), onRemove: () => replace(i) };
        return part.kind === "compare" ? (
          <Condition key={i} {...common} comparison={part} />
        ) : (
          <FilterBuilder key={i} {...common} group={part} depth={depth + 1} />
        );
      })}
      <div class="row">
        <Button small icon="plus" onClick={() => add(comparison(of.key))}>
          Add a condition
        </Button>
        {depth < MAX_DEPTH && (
          <Button
            look="quiet"
            small
            onClick={() =>
              add({ kind: group.kind === "and" ? "or" : "and", parts: [comparison(of.key)], not: false })
            }
          >
            Add a group
          </Button>
        )}
        {onRemove && (
          <Button look="quiet" small onClick={onRemove}>
            Remove this group
          </Button>
        )}
      </div>
    </fieldset>
  );
}

function Condition(props: {
  of: Declaration;
  comparison: Comparison;
  onChange: (changed: Comparison) => void;
  onRemove: () => void;
}) {
  const { of, comparison: condition, onChange, onRemove } = props;
  const path = splitPath(of, condition.category);
  const levels = usePath(of, path);
  const last = path.length - 1;
  const field = levels[last] && findField(levels[last], path[last]);
  const isUnset = condition.operator === "exact" && condition.value === "null" && field?.nullable === true;
  const setPath = (next: readonly string[]): void => {
    const chosen = levels[next.length - 1];
    const lookups = listLookups(chosen && findField(chosen, next.at(-1)!));
    const operator = lookups.includes(condition.operator) ? condition.operator : (lookups[0] ?? "exact");
    onChange({ ...condition, category: next.join("__"), operator, value: "" });
  };
  const setOperator = (chosen: string): void => {
    const isState = chosen === "unset" || chosen === "set";
    const [operator, not] = chosen.split(" ").reverse();
    onChange(
      isState
        ? { ...condition, operator: "exact", value: "null", not: chosen === "set" }
        : { ...condition, operator, not: not === "not", value: isUnset ? "" : condition.value },
    );
  };
  return (
    <div class="filter-row row">
      <PathSelects levels={levels} path={path} onChange={setPath} />
      {levels.length < path.length && <code>{condition.category}</code>}
      <OperatorSelect field={field} condition={condition} isUnset={isUnset} onChange={setOperator} />
      {!isUnset && (
        <ConditionValue
          segment={levels[last]?.name ?? of.name}
          name={path[last]}
          field={field}
          operator={condition.operator}
          value={condition.value}
          onChange={(value) => onChange({ ...condition, value })}
        />
      )}
      <Button look="quiet" icon="x" aria-label="Remove this condition" onClick={onRemove} />
    </div>
  );
}

/** Chooses a field, across references: one level after the other. */
export function PathSelects(props: {
  levels: readonly Declaration[];
  path: readonly string[];
  onChange: (path: readonly string[]) => void;
}) {
  const { levels, path, onChange } = props;
  return levels.map((declared, level) => (
    <FieldSelect
      key={level}
      of={declared}
      label={level === 0 ? "Field" : `Field of ${columnTitle(levels[level - 1], path[level - 1] ?? "")}`}
      isNested={level > 0}
      value={path[level] ?? ""}
      onChange={(name) => onChange(name === "" ? path.slice(0, level) : [...path.slice(0, level), name])}
    />
  ));
}

function FieldSelect(props: {
  of: Declaration;
  label: string;
  isNested: boolean;
  value: string;
  onChange: (name: string) => void;
}) {
  const { of, isNested, value } = props;
  const annotations = isNested ? [] : listedAnnotations(of);
  const own = [...Object.entries(of.fields), ...annotations]
    .filter(([, { lookups }]) => lookups.length > 0)
    .map(([name, { label }]): [string, string] => [name, isNested ? `’s ${label.toLowerCase()}` : label]);
  const itself: [string, string][] = isNested ? [["", "itself"]] : [];
  const unknown: [string, string][] =
    value === "" || findField(of, value) ? [] : [[value, `${value}: unknown`]];
  return (
    <Select
      label={props.label}
      value={value}
      choices={[...itself, ...unknown, ...own]}
      onChange={props.onChange}
    />
  );
}

function OperatorSelect(props: {
  field: FieldInfo | undefined;
  condition: Comparison;
  isUnset: boolean;
  onChange: (operator: string) => void;
}) {
  const { field, condition, isUnset } = props;
  const { operator, not } = condition;
  const lookups = listLookups(field);
  const offered: [string, string][] = (lookups.length > 0 ? lookups : [operator]).map((name) => [
    name,
    LOOKUPS[name] ?? name,
  ]);
  for (const [name, words] of Object.entries(NEGATED_LOOKUPS))
    if (lookups.includes(name)) offered.push([`not ${name}`, words]);
  if (not && !isUnset && !(operator in NEGATED_LOOKUPS))
    offered.push([`not ${operator}`, `not: ${LOOKUPS[operator]}`]);
  if (field?.nullable) offered.push(["unset", "is not set"], ["set", "is set"]);
  const value = isUnset ? (not ? "set" : "unset") : `${not ? "not " : ""}${operator}`;
  return <Select label="Comparison" value={value} choices={offered} onChange={props.onChange} />;
}

/** The lookups of a field in their order; references, flags and choices start with "is". */
function listLookups(field: FieldInfo | undefined): string[] {
  const own = field?.lookups ?? [];
  const known = Object.keys(LOOKUPS).filter((name) => own.includes(name));
  const startsWithIs = field?.reference || field?.kind === "flag" || field?.choices || isConstant(field);
  return startsWithIs ? ["exact", ...known.filter((name) => name !== "exact")] : known;
}

/** The declarations along a path of references, as far as there are any. */
export function usePath(of: Declaration, path: readonly string[]): readonly Declaration[] {
  const { value } = useLoaded(`${of.name} ${path.join()}`, async () => {
    const found = [of];
    for (const name of path.slice(0, MAX_REFERENCES)) {
      const to = findField(found.at(-1)!, name)?.reference;
      if (to?.printed !== "id") break;
      found.push(await declaration(to.segment));
    }
    return found;
  });
  return value ?? [of];
}

const FLAGS: Readonly<Record<string, string>> = { true: "yes", false: "no" };

function ConditionValue(props: {
  segment: string;
  name: string;
  field: FieldInfo | undefined;
  operator: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const { field, operator, value, onChange } = props;
  if (field?.reference && operator === "exact")
    return <Picker to={field.reference} label="Value" hideLabel value={value} onChoose={onChange} />;
  const choices = field?.choices ?? (field?.kind === "flag" ? ["true", "false"] : null);
  if (choices)
    return (
      <Select
        label="Value"
        value={value}
        choices={[
          ["", "choose"],
          ...choices.map((choice): [string, string] => [
            choice,
            FLAGS[choice] ?? formatChoice(choice, field),
          ]),
        ]}
        onChange={onChange}
      />
    );
  return <ConditionText {...props} />;
}

function ConditionText(props: Parameters<typeof ConditionValue>[0]) {
  const { segment, name, field, operator, value, onChange } = props;
  const id = useId();
  const isTextual = field?.kind === "text" && operator === "exact";
  const hasWords = isConstant(field) && operator === "exact";
  const isNumber = field?.kind === "number" || field?.kind === "integer";
  return (
    <>
      <input
        class="input"
        aria-label="Value"
        type={["instant", "date"].includes(field?.kind ?? "") ? "date" : "text"}
        inputMode={isNumber ? "decimal" : undefined}
        list={isTextual ? id : undefined}
        defaultValue={hasWords && value !== "" ? formatConstant(value) : value}
        onInput={({ currentTarget }) =>
          onChange(hasWords ? parseConstant(currentTarget.value, field) : currentTarget.value)
        }
      />
      {isTextual && <Suggestions id={id} segment={segment} name={name} />}
    </>
  );
}
