import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { type Lab, openLab } from "./harness.ts";

/** Names of places that cannot be mistaken: the shortest path that no other record that the reader may view has. */

let lab: Lab;
const ids = new Map<string, string>();
beforeAll(async () => {
  lab = await openLab({ sample: {} });
  const make = async (path: string, list: string, body: Record<string, Json>): Promise<void> => {
    const made = await lab.send("alice", "POST", `${list}/`, { public: true, ...body });
    expect(made.status).toBe(201);
    ids.set(path, String(made.body.id ?? (made.body.results as Record<string, Json>).id));
  };
  const at = (path: string): string => ids.get(path)!;
  await make("room", "places", { building: "A", room: "101" });
  for (const freezer of ["North", "South"])
    await make(freezer, "equipment", { name: freezer, model_type: "FREEZER", place: at("room") });
  const shelves = [
    ["N1", "Shelf 1", "North"],
    ["N2", "Shelf 2", "North"],
    ["S1", "Shelf 1", "South"],
  ];
  for (const [path, label, equipment] of shelves)
    await make(path, "locations", { label, equipment: at(equipment), place: at("room") });
  const inside = async (path: string, label: string, parent: string, more = {}) =>
    make(path, "locations", { label, parent: at(parent), ...more });
  for (const shelf of ["N1", "N2"]) await inside(`${shelf} A`, "Rack A", shelf);
  await inside("N2 B", "Rack B", "N2");
  await inside("S1 A", "Rack A", "S1");
  for (const rack of ["N1 A", "N2 A", "N2 B", "S1 A"]) await inside(`${rack} 1`, "Box 1", rack);
  await inside("only", "Box 7", "N1 A");
  await inside("twin 1", "Twin", "N2 B");
  await inside("twin 2", "Twin", "N2 B");
  await inside("hidden rack", "Rack B", "S1", { public: false });
  await inside("behind", "Box 1", "hidden rack");
});
afterAll(() => lab.database.close());

const paths = async (as: string | undefined, ...names: string[]): Promise<Json[]> => {
  const query = `fields=id,unique_path&page_size=100&response_format=flat`;
  const { results } = (await lab.send(as!, "GET", `locations/?${query}`)).body as {
    results: Record<string, Json>[];
  };
  return names.map((name) => results.find(({ id }) => id === ids.get(name))!.unique_path);
};

test("a unique path is as short as uniqueness allows", async () => {
  expect(await paths("alice", "only", "N2", "N1", "N2 A", "N2 A 1", "N1 A 1", "S1 A 1")).toEqual([
    "Box 7",
    "Shelf 2",
    "North › Shelf 1",
    "Shelf 2 › Rack A",
    "Shelf 2 › Rack A › Box 1",
    "North › Shelf 1 › Rack A › Box 1",
    "South › Shelf 1 › Rack A › Box 1",
  ]);
});

test("distinguishes records with the same full path by their ids", async () => {
  const twins = await paths("alice", "twin 1", "twin 2");
  expect(twins).toEqual(
    ["twin 1", "twin 2"].map(
      (name) => `A 101 › North › Shelf 2 › Rack B › Twin (${ids.get(name)!.slice(0, 8)})`,
    ),
  );
});

test("considers only records that the reader may view", async () => {
  expect(await paths("alice", "N2 B 1", "behind")).toEqual([
    "Shelf 2 › Rack B › Box 1",
    "Shelf 1 › Rack B › Box 1",
  ]);
  // Nothing says that there is a hidden rack: the box in it has no place.
  const [shown, behind] = await paths("bob", "N2 B 1", "behind");
  expect(shown).toBe("Rack B › Box 1");
  expect(behind).toBe(`Box 1 (${ids.get("behind")!.slice(0, 8)})`);
});

test("the unique path of a reference is shown only if the request names it", async () => {
  await lab.send("alice", "POST", "stocks/consumables/", {
    name: "Tube",
    model_type: "OTHER",
    location: ids.get("N2 A 1")!,
  });
  const get = async (query: string) =>
    (
      (await lab.send("alice", "GET", `stocks/consumables/?name=Tube&${query}`)).body.results as Record<
        string,
        Json
      >[]
    )[0];
  expect(await get("fields=name,location__unique_path&response_format=flat")).toEqual({
    name: "Tube",
    location__unique_path: "Shelf 2 › Rack A › Box 1",
  });
  expect(await get("fields=name,*__unique_path&response_format=flat")).toEqual({
    name: "Tube",
    location__unique_path: "Shelf 2 › Rack A › Box 1",
  });
  expect((await get("fields=name,location__unique_path&response_format=nested")).location__unique_path).toBe(
    "Shelf 2 › Rack A › Box 1",
  );
  const { body } = await lab.send("alice", "GET", "locations/?fields=*");
  expect((body.results as object[])[0]).not.toHaveProperty("unique_path");
});

test("agrees with a comparison of all paths", async () => {
  const query = "fields=id,label,unique_path&page_size=100&response_format=flat";
  for (const as of ["alice", "bob", "admin"]) {
    const { results } = (await lab.send(as, "GET", `locations/?${query}`)).body as {
      results: Record<string, string>[];
    };
    const whole = new Map<string, string[]>();
    for (const { id } of results) {
      const { path } = (await lab.send(as, "GET", `locations/tree/?of=locations/${id}`)).body as unknown as {
        path: { name: string }[];
      };
      whole.set(id, path.map(({ name }) => name).toReversed());
    }
    for (const { id, unique_path } of results) {
      const own = whole.get(id)!;
      const isUnique = (length: number): boolean =>
        whole
          .entries()
          .every(
            ([other, names]) => other === id || names.slice(0, length).join() !== own.slice(0, length).join(),
          );
      const length = own.findIndex((_, i) => isUnique(i + 1)) + 1;
      const expected =
        length > 0
          ? own.slice(0, length).toReversed().join(" › ")
          : `${own.toReversed().join(" › ")} (${id.slice(0, 8)})`;
      expect([as, unique_path]).toEqual([as, expected]);
    }
  }
});
