import type { Slots } from "../../src/inventory/api/route-slots.ts";
import { type Answered, type Lab, openLab } from "./harness.ts";
import { SAMPLE } from "./sample.ts";

/** An installation with boxes in a drawer, and requests about them. */

export const id = (n: number): string => `20000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
export const [BOX, RACK, SHELF, PLAIN] = [id(1), id(2), id(3), id(4)];
const inDrawer = { parent: "drawer", place: "A 101", equipment: "Freezer 1" };
const tube = (n: number, position: string, more: object = {}) => ({
  id: id(n),
  name: `Tube ${n}`,
  model_type: "OTHER",
  location: "Box 1",
  position,
  ...more,
});
export const CONSUMABLES = "stocks/consumables/";
export const SPECIMEN = "stocks/specimen/";

export const openBoxes = (): Promise<Lab> =>
  openLab({
    sample: {
      ...SAMPLE,
      locations: [
        ...SAMPLE.locations,
        { id: BOX, label: "Box 1", grid_rows: 3, grid_columns: 3, ...inDrawer },
        { id: RACK, label: "Box 10", grid_rows: 2, grid_columns: 2, numbering: "1", ...inDrawer },
        { id: SHELF, label: "Box 2", capacity: 2, ...inDrawer },
        { id: PLAIN, label: "Heap", ...inDrawer },
      ],
      consumables: [
        tube(11, "A1"),
        tube(12, "A2", { public: false, owned_by: "Genomics" }),
        tube(13, "", { location: "Box 2" }),
        tube(14, "", { location: "Heap" }),
        tube(15, "", { location: "Heap" }),
      ],
      specimens: [tube(21, "B2"), tube(22, "", { location: "Heap" })],
    },
  });

export const readError = ({ body }: Answered, field: string) =>
  (body[field] as string[] | undefined)?.[0] ?? body;

/** Requests to an installation, which may change between tests. */
export const requestsTo = (lab: () => Lab) => ({
  patch: (path: string, body: unknown, as = "admin") => lab().send(as, "PATCH", path, body),
  where: async (segment: string, n: number) => {
    const { body } = await lab().send("admin", "GET", `${segment}${id(n)}/?fields=location__label,position`);
    return `${String(body.location__label)} ${String(body.position)}`.trim();
  },
  slots: async (as: string | undefined, of = BOX) =>
    (await lab().ask("GET", `locations/${of}/slots/`, as ? { as } : {})).body as unknown as Slots,
  fill: (path: string, body: object, as = "admin") => lab().send(as, "POST", `${path}/free_slots/`, body),
});
