import { useEffect, useId, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { type Declaration, declaration, type FieldInfo } from "./declaration.ts";
import { type Comparison, comparison, type Form, type Group } from "./expression.ts";
import { Picker } from "./picker.tsx";
import { valuesOf } from "./value-input.tsx";

/** What lookups are called beside a field. */
const WORDS: Readonly<Record<string, string>> = {
  exact: "is",
  iexact: "is (any case)",
  contains: "contains (exact case)",
  icontains: "contains",
  startswith: "starts with (exact case)",
  istartswith: "starts with",
  endswith: "ends with (exact case)",
  iendswith: "ends with",
  gte: "is at least",
  gt: "is more than",
  lte: "is at most",
  lt: "is less than",
};
const ORDER = ["icontains", "exact", "istartswith", "iendswith", "gte", "lte", "gt", "lt"];
/** References that a filter may span; the interface allows one more. */
const SPANS = 4;

/** Edits the tree of a filter: comparisons, and groups of them in each other. */
export function FilterBuilder({
  of,
  group,
  onChange,
  depth = 0,
  onRemove,
}: {
  of: Declaration;
  group: Group;
  onChange: (group: Group) => void;
  depth?: number;
  onRemove?: () => void;
}) {
  const replace = (at: number, part: Form | undefined): void =>
    onChange({ ...group, parts: group.parts.flatMap((old, i) => (i === at ? (part ? [part] : []) : [old])) });
  const add = (part: Form): void => onChange({ ...group, parts: [...group.parts, part] });
  return (
    <fieldset class="filter-group">
      <legend>
        <select
          aria-label="How the conditions are joined"
          value={`${group.not ? "not " : ""}${group.kind}`}
          onChange={(event) => {
            const [kind, not] = event.currentTarget.value.split(" ").reverse();
            onChange({ ...group, kind: kind as "and" | "or", not: not === "not" });
          }}
        >
          <option value="and">All of these hold</option>
          <option value="or">One of these holds</option>
          <option value="not and">Not all of these hold</option>
          <option value="not or">None of these holds</option>
        </select>
      </legend>
      {group.parts.map((part, i) =>
        part.kind === "compare" ? (
          <ComparisonRow
            key={i}
            of={of}
            comparison={part}
            onChange={(changed) => replace(i, changed)}
            onRemove={() => replace(i, undefined)}
          />
        ) : (
          <FilterBuilder
            key={i}
            of={of}
            group={part}
            depth={depth + 1}
            onChange={(changed) => replace(i, changed)}
            onRemove={() => replace(i, undefined)}
          />
        ),
      )}
      <p class="row">
        <Button onClick={() => add(comparison(of.key))}>Add a condition</Button>
        {depth < 3 && (
          <Button
            look="quiet"
            onClick={() =>
              add({ kind: group.kind === "and" ? "or" : "and", parts: [comparison(of.key)], not: false })
            }
          >
            Add a group
          </Button>
        )}
        {onRemove && (
          <Button look="quiet" onClick={onRemove}>
            Remove this group
          </Button>
        )}
      </p>
    </fieldset>
  );
}

function ComparisonRow({
  of,
  comparison: it,
  onChange,
  onRemove,
}: {
  of: Declaration;
  comparison: Comparison;
  onChange: (changed: Comparison) => void;
  onRemove: () => void;
}) {
  const path = it.category.split("__");
  const levels = useLevels(of, path);
  const at = path.length - 1;
  const last = levels[at];
  const field: FieldInfo | undefined = last?.of.fields[path[at]];
  const complete = levels.length >= path.length;
  const isEmpty = it.operator === "exact" && it.value === "null" && field?.nullable === true;
  const lookups = usableLookups(field);
  const operator = isEmpty ? (it.not ? "filled" : "empty") : `${it.not ? "not " : ""}${it.operator}`;
  const setPath = (level: number, name: string): void => {
    const next = name === "" ? path.slice(0, level) : [...path.slice(0, level), name];
    const found = levels[next.length - 1]?.of.fields[next[next.length - 1]];
    const fits = usableLookups(found);
    onChange({
      ...it,
      category: next.join("__"),
      operator: fits.includes(it.operator) ? it.operator : (fits[0] ?? "exact"),
      value: "",
    });
  };
  const setOperator = (typed: string): void => {
    if (typed === "empty" || typed === "filled")
      onChange({ ...it, operator: "exact", value: "null", not: typed === "filled" });
    else {
      const [name, not] = typed.split(" ").reverse();
      onChange({ ...it, operator: name, not: not === "not", value: isEmpty ? "" : it.value });
    }
  };
  return (
    <div class="filter-row">
      {levels.map(({ of: declared }, level) => (
        <select
          key={level}
          aria-label={
            level === 0 ? "Field" : `Field of ${levels[level - 1].of.fields[path[level - 1]]?.label}`
          }
          value={path[level] ?? ""}
          onChange={(event) => setPath(level, event.currentTarget.value)}
        >
          {level > 0 && <option value="">itself</option>}
          {path[level] !== undefined && path[level] !== "" && !(path[level] in declared.fields) && (
            <option value={path[level]}>{path[level]}: unknown</option>
          )}
          {Object.entries(declared.fields)
            .filter(([, { lookups: some }]) => some.length > 0)
            .map(([name, { label }]) => (
              <option key={name} value={name}>
                {level > 0 ? `’s ${label.toLowerCase()}` : label}
              </option>
            ))}
        </select>
      ))}
      {!complete && <code>{it.category}</code>}
      <select
        aria-label="How it is compared"
        value={operator}
        onChange={(event) => setOperator(event.currentTarget.value)}
      >
        {(lookups.length > 0 ? lookups : [it.operator]).map((name) => (
          <option key={name} value={name}>
            {WORDS[name] ?? name}
          </option>
        ))}
        {["exact", "icontains"]
          .filter((name) => lookups.includes(name))
          .map((name) => (
            <option key={`not ${name}`} value={`not ${name}`}>
              {name === "exact" ? "is not" : "does not contain"}
            </option>
          ))}
        {it.not && !["exact", "icontains"].includes(it.operator) && !isEmpty && (
          <option value={operator}>not: {WORDS[it.operator] ?? it.operator}</option>
        )}
        {field?.nullable && (
          <>
            <option value="empty">is not set</option>
            <option value="filled">is set</option>
          </>
        )}
      </select>
      {!isEmpty && (
        <FilterValue
          segment={last?.of.name ?? of.name}
          name={path[at]}
          field={field}
          operator={it.operator}
          value={it.value}
          onChange={(value) => onChange({ ...it, value })}
        />
      )}
      <Button look="quiet" aria-label="Remove this condition" onClick={onRemove}>
        ×
      </Button>
    </div>
  );
}

/** Of a reference: is, and what looks into its name. */
function usableLookups(field: FieldInfo | undefined): string[] {
  const own = (field?.lookups ?? []).filter((name) => name !== "isnull");
  const known = ORDER.filter((name) => own.includes(name));
  const all = [...known, ...own.filter((name) => !known.includes(name))];
  return field?.reference || field?.kind === "flag" || field?.choices
    ? ["exact", ...all.filter((name) => name !== "exact")]
    : all;
}

/** The declarations along a path of references: one more than the path has references, as far as there are any. */
function useLevels(of: Declaration, path: readonly string[]): { of: Declaration }[] {
  const [levels, set] = useState<{ of: Declaration }[]>([{ of }]);
  useEffect(() => {
    let wanted = true;
    void (async () => {
      const found = [{ of }];
      for (const name of path.slice(0, SPANS)) {
        const to = found[found.length - 1].of.fields[name]?.reference;
        if (!to || to.printed === "key") break;
        found.push({ of: await declaration(to.segment) });
      }
      if (wanted) set(found);
    })().catch(() => {});
    return () => {
      wanted = false;
    };
  }, [of, path.join("__")]);
  // The last level is there only to go further: a field is chosen in it, or the reference itself is meant.
  return levels;
}

function FilterValue(props: {
  segment: string;
  name: string | undefined;
  field: FieldInfo | undefined;
  operator: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const { segment, name, field, operator, value, onChange } = props;
  const id = useId();
  const [proposals, propose] = useState<string[]>([]);
  const few = field?.kind === "text" && operator === "exact" && !field.choices;
  useEffect(() => {
    if (few && name) valuesOf(segment, name).then(propose, () => {});
  }, [few, segment, name]);
  if (field?.reference && operator === "exact")
    return <Picker to={field.reference} label="Value" hideLabel value={value} onChoose={onChange} />;
  if (field?.kind === "flag" || field?.choices) {
    const choices = field.choices ?? ["true", "false"];
    return (
      <select aria-label="Value" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">choose</option>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice === "true" ? "yes" : choice === "false" ? "no" : choice}
          </option>
        ))}
      </select>
    );
  }
  return (
    <>
      <input
        aria-label="Value"
        type={field?.kind === "instant" ? "date" : "text"}
        inputMode={field?.kind === "number" || field?.kind === "integer" ? "decimal" : undefined}
        list={few ? id : undefined}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {few && (
        <datalist id={id}>
          {proposals.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </>
  );
}
