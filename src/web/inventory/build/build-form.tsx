import { useState } from "preact/hooks";
import type { BuiltStorage } from "../../../inventory/api/route-storage.ts";
import { Button, IconButton } from "../../components/button.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { FormButtons, FormError, useSubmission } from "../../components/form.tsx";
import { Card } from "../../components/layout.tsx";
import { Table } from "../../components/table.tsx";
import { pluralize, formatCount } from "../../format.tsx";
import { useQuery } from "../../page.tsx";
import { callForResponse } from "../../request.ts";
import { Picker } from "../picker.tsx";
import { readBatchId } from "../write-record.ts";
import {
  type DraftLevel,
  type LevelPreview,
  GRIDS,
  KINDS,
  toLevel,
  newLevel,
  OTHER_GRID,
  PRESETS,
  previewLevels,
  shownNames,
} from "./levels.ts";

/** The created storage, and the batch that undoes it. */
export interface Built {
  results: BuiltStorage["results"];
  batch: string | null;
  place: string;
}

const ROOMS = { segment: "places", key: "name", printed: "id" } as const;
const MAX_LEVELS = 10;
const LABELS: Partial<Record<DraftLevel["list"], string>> = {
  places: "Rooms",
  equipment: "Freezer or other equipment",
};

/** Describes storage level by level, shows what that makes, and builds it. */
export function BuildForm({ onBuilt }: { onBuilt: (built: Built) => void }) {
  const [query] = useQuery();
  const [place, setPlace] = useState(query.get("place") ?? "");
  const [preset, setPreset] = useState(PRESETS[0].value);
  const [levels, setLevels] = useState<DraftLevel[]>(PRESETS[0].levels.map(newLevel));
  const previews = previewLevels(levels);
  const total = previews.reduce((sum, each) => sum + each.total, 0);
  const isComplete = previews.every(({ error }) => error === undefined);
  // New rooms are in no other.
  const hasRooms = levels[0].list === "places";
  const form = useSubmission(async () => {
    const body = { place: place === "" || hasRooms ? null : place, levels: levels.map(toLevel) };
    const response = await callForResponse("POST /api/v2/:list/build/", {
      params: { list: "locations" },
      body,
    });
    const { results } = await response.json();
    onBuilt({ results, batch: readBatchId(response), place: body.place ?? "" });
  });
  const change = (key: number, patch: Partial<DraftLevel>): void =>
    setLevels((before) => before.map((level) => (level.key === key ? { ...level, ...patch } : level)));
  return (
    <form class="stack" onSubmit={form.submit} noValidate>
      {!hasRooms && (
        <Card title="Where">
          <Picker label="Room" optional creates to={ROOMS} value={place} onChoose={setPlace} />
        </Card>
      )}
      <Card title="Levels to build">
        <SelectField
          label="Start from"
          value={preset}
          choices={PRESETS}
          onChange={(value) => {
            setPreset(value);
            setLevels(PRESETS.find((each) => each.value === value)!.levels.map(newLevel));
          }}
        />
        <p class="hint">
          A name may have ranges: “Rack {"{1..5}"}” makes Rack 1 to Rack 5, “{"{01..12}"}” and “{"{A..D}"}”
          work too. Every level is made in each one of the level before.
        </p>
        {levels.map((level, i) => (
          <LevelFields
            key={level.key}
            level={level}
            number={i + 1}
            error={previews[i].error}
            onChange={(patch) => change(level.key, patch)}
            onRemove={
              levels.length > 1
                ? () => setLevels((before) => before.filter(({ key }) => key !== level.key))
                : undefined
            }
          />
        ))}
        {levels.length < MAX_LEVELS && (
          <div>
            <Button icon="plus" onClick={() => setLevels((before) => [...before, newLevel()])}>
              Add a level
            </Button>
          </div>
        )}
      </Card>
      <Card title="Preview" bare>
        <Preview levels={levels} previews={previews} />
      </Card>
      <FormError of={form} shown={[]} focus />
      <FormButtons of={form} submit={`Create ${pluralize(total, "record")}`} disabled={!isComplete} />
    </form>
  );
}

function LevelFields(props: {
  level: DraftLevel;
  number: number;
  error: string | undefined;
  onChange: (patch: Partial<DraftLevel>) => void;
  onRemove: (() => void) | undefined;
}) {
  const { level, number, error, onChange, onRemove } = props;
  const isLocation = level.list === "locations";
  return (
    <fieldset class="level">
      <legend class="unseen">Level {number}</legend>
      <TextField
        label={LABELS[level.list] ?? `Names of level ${number}`}
        value={level.name}
        errors={error === undefined ? undefined : [error]}
        autocomplete="off"
        onInput={(name) => onChange({ name })}
      />
      {isLocation && (
        <SelectField
          label="Slots in each"
          value={level.grid}
          choices={GRIDS}
          onChange={(grid) => onChange({ grid })}
        />
      )}
      {level.grid === OTHER_GRID &&
        (["rows", "columns"] as const).map((side) => (
          <TextField
            key={side}
            label={side === "rows" ? "Rows" : "Columns"}
            inputMode="numeric"
            value={level[side]}
            onInput={(value) => onChange({ [side]: value })}
          />
        ))}
      {level.grid !== "" && (
        <SelectField
          label="Slots are named"
          value={level.numbering}
          choices={[
            { value: "A1", name: "A1, A2, …" },
            { value: "1", name: "1, 2, 3, …" },
          ]}
          onChange={(numbering) => onChange({ numbering })}
        />
      )}
      {onRemove && <IconButton icon="trash-2" label={`Remove level ${number}`} onClick={onRemove} />}
    </fieldset>
  );
}

/** The number of records that each level makes, and their first names. */
function Preview({ levels, previews }: { levels: readonly DraftLevel[]; previews: readonly LevelPreview[] }) {
  return (
    <Table
      caption="What will be created"
      rows={levels.map(({ key, list }, i) => ({ key, list, ...previews[i] }))}
      rowKey={({ key }) => String(key)}
      columns={[
        {
          name: "names",
          title: "Names",
          heading: true,
          cell: (level) => level.error ?? shownNames(level),
        },
        {
          name: "list",
          title: "Kind",
          cell: ({ list }) => KINDS[list],
        },
        { name: "each", title: "In each", numeric: true, cell: ({ inEach }) => formatCount(inEach) },
        { name: "total", title: "Altogether", numeric: true, cell: ({ total }) => formatCount(total) },
        {
          name: "slots",
          title: "Slots",
          numeric: true,
          cell: ({ slots }) => (slots > 0 ? formatCount(slots) : "–"),
        },
      ]}
    />
  );
}
