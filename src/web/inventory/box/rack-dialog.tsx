import { useState } from "preact/hooks";
import type { CheckedRack } from "../../../inventory/api/route-rack.ts";
import { href } from "../../address.ts";
import { Banner } from "../../components/banner.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SelectField } from "../../components/field.tsx";
import { FileButton } from "../../components/file-button.tsx";
import { FormError, useSubmission } from "../../components/form.tsx";
import { Tag } from "../../components/layout.tsx";
import { Table } from "../../components/table.tsx";
import { withErrorToast } from "../../components/toast.tsx";
import { pluralize } from "../../format.tsx";
import { call, callForResponse } from "../../request.ts";
import { pagePath } from "../declaration.ts";
import { showDone } from "../write-record.ts";
import type { Slots } from "./slots.ts";

/** Checks and fills a box with the file of a rack scanner. */

type Result = CheckedRack["results"][number]["result"];
type Missing = "keep" | "take_out";

/** Results in the order in which they need attention, with their looks. */
const RESULTS: readonly (readonly [Result, "ok" | "warn" | "danger" | undefined])[] = [
  ["moved", "ok"],
  ["missing", "warn"],
  ["unknown", "danger"],
  ["blocked", "danger"],
  ["unread", "warn"],
  ["matched", undefined],
];
const order = (result: Result): number => RESULTS.findIndex(([name]) => name === result);

interface Checked {
  file: string;
  missing: Missing;
  rack: CheckedRack;
}

/** The button that chooses a file, and the preview of what it changes. */
export function RackFileButton({ box, onMoved }: { box: Slots; onMoved: () => void }) {
  const [checked, setChecked] = useState<Checked | null>(null);
  if (box.isOffline) return null;
  const check = (file: string, missing: Missing): Promise<void> =>
    withErrorToast(async () => {
      const answer = await call("POST /api/v2/:list/:id/rack_scan/", {
        params: { list: "locations", id: box.id },
        query: { dry_run: "1" },
        body: { file, missing },
      });
      setChecked({ file, missing, rack: answer as CheckedRack });
    });
  return (
    <>
      <FileButton
        label="File of a rack scanner"
        accept=".csv,.txt,.tsv"
        onChoose={([file]) => file && void file.text().then((text) => check(text, "keep"))}
      >
        Rack scan
      </FileButton>
      {checked && (
        <RackDialog
          {...{ ...checked, box, onMoved }}
          onMissing={(missing) => void check(checked.file, missing)}
          onClose={() => setChecked(null)}
        />
      )}
    </>
  );
}

interface DialogProps extends Checked {
  box: Slots;
  onMissing: (missing: Missing) => void;
  onClose: () => void;
  onMoved: () => void;
}

function RackDialog(props: DialogProps) {
  const { file, missing, rack, box, onClose, onMoved } = props;
  const count = (result: Result): number => rack.results.filter((each) => each.result === result).length;
  const [moved, lost] = [count("moved"), count("missing")];
  const form = useSubmission(async () => {
    const response = await callForResponse("POST /api/v2/:list/:id/rack_scan/", {
      params: { list: "locations", id: box.id },
      query: { confirm: rack.confirm },
      body: { file, missing },
    });
    showDone(`Filled ${box.label} from the scan: ${pluralize(moved, "tube")} moved.`, response, onMoved);
    onMoved();
    onClose();
    return true;
  });
  return (
    <Dialog
      wide
      title={`Rack scan of ${box.label}`}
      onClose={onClose}
      cancel
      actions={
        <Button look="primary" busy={form.busy} disabled={rack.count === 0} onClick={form.submit}>
          {moved > 0 ? `Move ${pluralize(moved, "tube")}` : "Take out missing tubes"}
        </Button>
      }
    >
      <FormError of={form} shown={[]} />
      {rack.rack !== null && rack.barcode !== null && rack.rack !== rack.barcode && (
        <Banner tone="warn">
          The file is of rack {rack.rack}, but this box has the barcode {rack.barcode}.
        </Banner>
      )}
      <p class="row">
        {RESULTS.filter(([result]) => count(result) > 0).map(([result, tone]) => (
          <Tag key={result} tone={tone}>
            {count(result)} {result}
          </Tag>
        ))}
      </p>
      {lost > 0 && (
        <SelectField
          label="Tubes that were not scanned"
          value={missing}
          choices={[
            { value: "keep", name: "stay in the box" },
            { value: "take_out", name: "leave the box" },
          ]}
          onChange={(value) => props.onMissing(value as Missing)}
        />
      )}
      <ResultTable results={rack.results} />
    </Dialog>
  );
}

const ResultTable = ({ results }: Pick<CheckedRack, "results">) => (
  <Table
    caption="Result for each tube"
    rows={results.toSorted((a, b) => order(a.result) - order(b.result))}
    rowKey={({ position, result }) => `${position} ${result}`}
    columns={[
      { name: "position", title: "Position", heading: true, cell: ({ position }) => position },
      {
        name: "result",
        title: "Result",
        cell: ({ result }) => <Tag tone={RESULTS[order(result)][1]}>{result}</Tag>,
      },
      {
        name: "record",
        title: "Tube",
        cell: ({ record, code }) =>
          record ? (
            <a href={href(pagePath(record.segment, record.id))}>{record.name}</a>
          ) : (
            <code>{code}</code>
          ),
      },
      { name: "from", title: "Was in", cell: ({ from }) => from || "–" },
    ]}
  />
);
