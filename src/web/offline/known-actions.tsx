import { useLoaded } from "../components/loaded.tsx";
import { KnownActions } from "../inventory/stock-actions.tsx";
import { snapshot } from "./device.ts";
import { findRecord, whereIs } from "./snapshot.ts";
import { useReloadAfterSending } from "./use-queue.ts";

/** The actions on stock as this device knows it, after the changes that wait. */
export function KnownRecordActions({ id }: { id: string }) {
  const known = useLoaded(`known ${id}`, snapshot);
  useReloadAfterSending(known.reload);
  const record = known.value && findRecord(known.value, id);
  if (!known.value || !record?.use) return null;
  return (
    <KnownActions
      record={record}
      amount={record.amount}
      unit={record.unit}
      isOut={record.out === true}
      from={{ id: record.location ?? "", name: whereIs(known.value, record) }}
      onChanged={known.reload}
    />
  );
}
