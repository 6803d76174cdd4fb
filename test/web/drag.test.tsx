import { expect, test } from "bun:test";
import { render } from "preact-render-to-string";
import { draggable } from "../../src/web/components/drag.ts";

/** An event that keeps what handlers do with it. */
function dragEvent() {
  const kept = { prevented: false, data: "" };
  const event = {
    preventDefault: () => (kept.prevented = true),
    dataTransfer: { setData: (_type: string, text: string) => (kept.data = text) },
  };
  return { kept, event: event as unknown as DragEvent };
}

/** Three elements that can be dragged onto each other; the last has no value. */
function openBoard(accepts: (value: number) => boolean) {
  const useDrag = draggable<number>();
  const dropped: [onto: string, value: number][] = [];
  const attributes: Record<string, ReturnType<typeof useDrag>["attributes"]> = {};
  function Place({ name, value }: { name: string; value: number | null }) {
    const onDrop = (taken: number): void => void dropped.push([name, taken]);
    attributes[name] = useDrag({ name, value, accepts, onDrop }).attributes;
    return <p>{name}</p>;
  }
  render(
    <main>
      <Place name="A1" value={0} />
      <Place name="A2" value={7} />
      <Place name="A3" value={null} />
    </main>,
  );
  return { attributes, dropped };
}

test("only elements with a value can be dragged", () => {
  const { attributes } = openBoard(() => true);
  expect(Object.values(attributes).map((each) => each.draggable)).toEqual([true, true, false]);
});

test.each([
  ["A1", "A3", true, [["A3", 0]]],
  ["A2", "A1", true, [["A1", 7]]],
  ["A2", "A1", false, []],
  ["A3", "A1", true, []],
] as const)("dragging %s onto %s, where it is accepted: %p", (from, onto, accepted, expected) => {
  const { attributes, dropped } = openBoard(() => accepted);
  const [start, over, drop] = [dragEvent(), dragEvent(), dragEvent()];
  attributes[from].onDragStart(start.event);
  expect(start.kept.data).toBe(from);
  attributes[onto].onDragOver(over.event);
  attributes[onto].onDrop(drop.event);
  expect(dropped).toEqual(expected as unknown as typeof dropped);
  // Without it, the browser would not allow the drop, and would open what was dropped.
  expect([over.kept.prevented, drop.kept.prevented]).toEqual([expected.length > 0, true]);
});

test("nothing is dropped after the end of a drag", () => {
  const { attributes, dropped } = openBoard(() => true);
  attributes.A1.onDragStart(dragEvent().event);
  attributes.A1.onDragEnd();
  attributes.A2.onDrop(dragEvent().event);
  expect(dropped).toEqual([]);
});
