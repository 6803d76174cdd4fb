import { useEffect, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Combobox } from "../components/combobox.tsx";
import { Dialog } from "../components/dialog.tsx";
import { type FieldProps, TextField } from "../components/field.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { Icon } from "../components/icon.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { snapshot } from "../offline/device.ts";
import { MOST as MOST_KNOWN, whereIs } from "../offline/snapshot.ts";
import { isUnreachable, callForResponse } from "../request.ts";
import { formatCount } from "../format.tsx";
import { groupTitle } from "../../platform/words.ts";
import { useSession } from "../session.ts";
import {
  parseConstant,
  type Declaration,
  declaration,
  isConstant,
  LISTS,
  type Reference,
  listSingular,
  formatConstant,
} from "./declaration.ts";
import { PathLine } from "./path.tsx";
import { nameField, readName } from "./record.tsx";
import { showDone } from "./write-record.ts";
import { readList } from "./read-list.ts";

interface Option {
  /** The value in requests. */
  value: string;
  name: string;
  /** Distinguishes equal names. */
  context: string;
  /** The own name of a place, without its path. */
  label?: string;
  /** Free slots of a location with a grid or a capacity. */
  free?: number | null;
  /** The name of a record that choosing it creates. */
  creates?: string;
}

const MOST = 20;

/**
 * Records whose name starts with the text, then others that contain its words; without a network, records on this
 * device.
 */
export async function searchRecords(to: Reference, text: string, signal: AbortSignal): Promise<Option[]> {
  const words = text.trim();
  try {
    return await searchOnline(to, words, signal);
  } catch (error) {
    const known = isUnreachable(error) ? await snapshot() : undefined;
    if (!known || !(to.segment in MOST_KNOWN) || to.printed === "key") throw error;
    return known.records
      .filter(
        ({ segment, name }) => segment === to.segment && name.toLowerCase().includes(words.toLowerCase()),
      )
      .slice(0, MOST)
      .map((record) => ({ value: record.id, name: record.name, context: whereIs(known, record) }));
  }
}

async function searchOnline(to: Reference, words: string, signal: AbortSignal): Promise<Option[]> {
  if (words === "") return read(to, {}, signal);
  const [first, others] = await Promise.all([
    read(to, { name: words }, signal),
    read(to, { query: words }, signal),
  ]);
  const known = new Set(first.map(({ value }) => value));
  return [...first, ...others.filter(({ value }) => !known.has(value))].slice(0, MOST);
}

async function read(to: Reference, filter: Record<string, string>, signal: AbortSignal): Promise<Option[]> {
  const { context = [] } = LISTS[to.segment] ?? {};
  const name = nameField(to);
  const free = to.segment === "locations" ? ["free_slots"] : [];
  const fields = ["id", to.key, name, ...context, ...free].join(",");
  const query = { ...to.filter, ...filter, fields, response_format: "flat", page_size: MOST };
  const { results } = await readList<Record<string, string | null> & { free_slots?: number | null }>(
    to.segment,
    query,
    signal,
  );
  return results.map((record) => ({
    value: String(to.printed === "key" ? record[to.key] : record.id),
    name: String(record[name] || record[to.key]),
    // The context does not repeat the path.
    context: context
      .flatMap((of) => (record[of] && !record[name]?.includes(record[of]) ? record[of] : []))
      .join(", "),
    label: String(record[to.key]),
    free: record.free_slots ?? null,
  }));
}

interface PickerProps extends FieldProps {
  to: Reference;
  value: string;
  /** Name of the value, if known. */
  name?: string | undefined;
  onChoose: (value: string, name: string) => void;
  /** True if the picker offers to create a record of the typed name. */
  creates?: boolean;
}

/** Chooses a record by part of its name, or creates it. */
export function Picker({ to, value, name: known, onChoose, creates = false, ...field }: PickerProps) {
  const [name, setName] = useState(known ?? "");
  const [created, setCreated] = useState<string | null>(null);
  const mayCreate = creates && LISTS[to.segment]?.asked !== undefined && Boolean(useSession());
  useEffect(() => {
    setName(known ?? value);
    if (value !== "" && known === undefined && (to.printed !== "key" || nameField(to) !== to.key))
      void readName(to, value).then(setName);
  }, [value, known]);
  const choose = (option: Option): void => {
    setName(option.name);
    onChoose(option.value, option.name);
  };
  return (
    <>
      <Combobox<Option>
        {...field}
        shown={groupTitle(name)}
        placeholder={mayCreate ? "Type part of the name, or a new name" : "Type part of the name"}
        search={async (text, signal) => {
          const options = await searchRecords(to, text, signal);
          return { options: mayCreate ? withCreation(options, text.trim()) : options };
        }}
        optionKey={(option) => option.creates ?? option.value}
        chooseOnLeave={(typed, options) =>
          typed === "" ? { value: "", name: "", context: "" } : findOnly(options, typed)
        }
        onChoose={(option) => (option.creates === undefined ? choose(option) : setCreated(option.creates))}
      >
        {(option) =>
          option.creates === undefined ? (
            <OptionName option={option} />
          ) : (
            <span class="row">
              <Icon name="plus" />
              <span>Create “{option.creates}”…</span>
            </span>
          )
        }
      </Combobox>
      {created !== null && (
        <CreateDialog to={to} name={created} onClose={() => setCreated(null)} onCreated={choose} />
      )}
    </>
  );
}

/** A record that a picker offers: of a place its path, what is around that, and its free slots. */
export const OptionName = ({ option: { name, context, free } }: { option: Option }) => (
  <span class="option">
    <span>
      <PathLine path={groupTitle(name || "(no name)")} /> <small>{context}</small>
    </span>
    {typeof free === "number" && <small>{free === 0 ? "full" : `${formatCount(free)} free`}</small>}
  </span>
);

const isNamed = ({ name, label = name }: Option, typed: string): boolean =>
  [name, label].some((each) => each.toLowerCase() === typed.toLowerCase());

/** The option of this name, unless several have it: a wrong one must not be chosen in silence. */
function findOnly(options: readonly Option[], typed: string): Option | undefined {
  const [found, another] = options.filter((option) => isNamed(option, typed));
  return another ? undefined : found;
}

/** Offers to create a record of this name unless one exists. */
const withCreation = (options: Option[], name: string): Option[] =>
  name === "" || options.some((option) => isNamed(option, name))
    ? options
    : [...options, { value: "", name: "", context: "", creates: name }];

/** Values that the name of a new record suggests: `FREEZER` for Freezer 3. */
const suggestedValues = (
  { fields }: Declaration,
  asked: readonly string[],
  name: string,
): Record<string, string> =>
  Object.fromEntries(
    asked.flatMap((field) => {
      const value = fields[field].form?.inNames?.find((each) => name.toUpperCase().includes(each));
      return value === undefined ? [] : [[field, value]];
    }),
  );

/** Asks for the few fields that a new record needs. */
export function CreateDialog(props: {
  to: Reference;
  name: string;
  onClose: () => void;
  onCreated: (option: Option) => void;
}) {
  const { to, onClose } = props;
  const { segment } = to;
  // The limits of the choice hold for the new record, too.
  const limits = to.filter?.category_id ? { category: to.filter.category_id } : {};
  const [first, ...others] = LISTS[segment].asked!;
  const asked = [first, ...others.filter((name) => !(name in limits))];
  const declared = useLoaded(segment, () => declaration(segment));
  const [entered, setEntered] = useState<Record<string, string>>({ ...limits, [first]: props.name });
  const suggested = declared.value && suggestedValues(declared.value, asked, props.name);
  const values: Record<string, string> = { ...suggested, ...entered };
  const form = useSubmission(async () => {
    const given = Object.entries(values).filter(([, value]) => value !== "");
    const query = { response_format: "flat", fields: [...new Set(["id", to.key])].join(",") };
    const response = await callForResponse("POST /api/v2/:list/", {
      params: { list: segment },
      query,
      body: Object.fromEntries(given),
    });
    const results = (await response.json()).results as Record<string, string>;
    showDone(`Created ${results[to.key]}.`, response, () => {});
    onClose();
    const value = to.printed === "key" ? results[to.key] : results.id;
    props.onCreated({ value, name: results[to.key], context: "" });
    return true;
  });
  return (
    <Dialog
      title={`New ${listSingular(segment)}`}
      onClose={onClose}
      cancel
      actions={
        <Button look="primary" busy={form.busy} onClick={form.submit}>
          Create
        </Button>
      }
    >
      <FormError of={form} shown={asked} />
      <Loaded of={declared}>
        {({ fields }) =>
          asked.map((name) => {
            const field = fields[name];
            const shared = {
              label: field.label,
              optional: field.write !== "required",
              errors: form.fields[name],
            };
            const set = (value: string): void => setEntered((before) => ({ ...before, [name]: value }));
            return field.reference ? (
              <Picker key={name} {...shared} to={field.reference} value={values[name] ?? ""} onChoose={set} />
            ) : (
              <TextField
                key={name}
                {...shared}
                value={isConstant(field) ? formatConstant(values[name] ?? "") : (values[name] ?? "")}
                onInput={(text) => set(isConstant(field) ? parseConstant(text, field) : text)}
                focus={name === first}
                onKeyDown={(event) => {
                  // Not the form around the picker.
                  if (event.key === "Enter") form.submit(event);
                }}
              />
            );
          })
        }
      </Loaded>
    </Dialog>
  );
}
