import { Button } from "../../components/button.tsx";
import { confirm } from "../../components/confirm.tsx";
import { call, type CallOptions } from "../../request.ts";
import type { Slots } from "./slots.ts";

/** Takes out records that others put into a box, for users who may change the box. */

interface EvictProps {
  box: Slots;
  onMoved: () => void;
}

const asked = (
  { box, onMoved }: EvictProps,
  which: CallOptions<"POST /api/v2/:list/:id/evict/">["body"],
  title: string,
): void =>
  confirm({
    title,
    text: "Records that are taken out stay in the inventory, without a location. Their history shows who took them out. You cannot undo this.",
    verb: "Take out",
    run: async () => {
      await call("POST /api/v2/:list/:id/evict/", {
        params: { list: "locations", id: box.id },
        body: which,
      });
      onMoved();
    },
    done: `Taken out of ${box.label}.`,
  });

/** The button for a slot whose record the person may not view or change. */
export const EvictButton = ({ position, ...props }: EvictProps & { position: string }) =>
  props.box.hidden === null ? null : (
    <div class="actions">
      <Button
        small
        icon="log-out"
        onClick={() => asked(props, { positions: [position] }, `Take out what is in ${position}`)}
      >
        Take out
      </Button>
    </div>
  );

/** The number of records in the box that the person may not view, and a button that removes them. */
export function HiddenRecords(props: EvictProps) {
  const { hidden } = props.box;
  if (!hidden) return null;
  const many = hidden === 1 ? "One record" : `${hidden} records`;
  return (
    <p class="banner banner-warn screen">
      {many} in {props.box.label} {hidden === 1 ? "is" : "are"} hidden from you.{" "}
      <Button small onClick={() => asked(props, { hidden: true }, `Take out ${many.toLowerCase()}`)}>
        Take out
      </Button>
    </p>
  );
}
