import { expect, test } from "bun:test";
import { openLab } from "../harness.ts";
import { seeded } from "../random.ts";
import { EMPTY } from "../sample.ts";
import { computeRank, isFoundWithTypos, type Searched, views } from "../search-model.ts";

const random = seeded(11);
const CALLERS = [undefined, "alice", "bob", "admin"] as const;

/** The text with one letter added, left out or replaced, or two neighbours exchanged. */
function misspell(text: string): string {
  const letters = Array.from(text);
  const at = random.below(letters.length);
  const letter = random.pick([..."abcdefghijklmnopqrstuvwxyzü7 "]);
  const replaced = random.pick([[], [letter], [letter, letters[at]], [letters[at + 1] ?? "", letters[at]]]);
  return letters
    .toSpliced(at, replaced.length > 1 && replaced[0] === letters[at + 1] ? 2 : 1, ...replaced)
    .join("");
}

test("tolerates one typo and ignores accents as a plain model, where few records are found without", async () => {
  const words = [
    "Metabion",
    "Günther",
    "Guenther",
    "Roche",
    "Merck",
    "Ørsted",
    "Straße",
    "Sigma-Aldrich",
    "Thermo",
  ];
  const lab = await openLab({ sample: EMPTY });
  const list = "stocks/consumables";
  const mine: Searched[] = [];
  const named = (): string => Array.from({ length: 2 }, () => misspell(random.pick(words))).join(" ");
  for (let i = 0; i < 80; i++) {
    const fields = { supplier: named(), catalogue_number: `M0${random.below(300)}S`, lot: named() };
    const access = {
      owner: random.pick(["alice", "admin"]),
      group: "SYSTEM_GROUP",
      public: random.chance(0.3),
    };
    const name = named().trim();
    const given = { name, ...fields, owner: access.owner, public: access.public, owned_by: access.group };
    const {
      body: { id },
    } = await lab.send("admin", "POST", `${list}/`, given);
    const about = {
      description: "",
      barcode: "",
      parts: [],
      viewer: undefined,
      modified: 0,
    };
    const written = await lab.ask("GET", `${list}/${String(id)}/`, { as: "admin" });
    const stored = Object.fromEntries(
      Object.keys(fields).map((field) => [field, String(written.body[field])]),
    );
    mine.push({
      id: String(id),
      ...about,
      ...access,
      name: String(written.body.name),
      fields: stored,
    });
  }
  const seen = { exact: 0, similar: 0 };
  for (let i = 0; i < 200; i++) {
    const as = random.pick(CALLERS);
    const typed = random
      .pick([
        () => misspell(random.pick(words)),
        () => misspell(misspell(random.pick(words))),
        () => random.pick(words),
        () => `${misspell(random.pick(words))} ${misspell(random.pick(words))}`,
        () => `${random.pick(words)} ${random.pick(mine).fields?.catalogue_number ?? "m0"}`,
      ])()
      .trim();
    if (typed === "") continue;
    const visible = mine.filter((of) => views(as, of));
    const exact = visible.filter((of) => computeRank(as, of, typed));
    const similar = exact.length < 5 ? visible.filter((of) => isFoundWithTypos(of, typed)) : [];
    const { body } = await lab.ask(
      "GET",
      `search/?${String(new URLSearchParams({ q: typed, list, limit: "500" }))}`,
      { as },
    );
    const found = (body.groups as { results: { id: string }[] }[]).flatMap(({ results }) =>
      results.map(({ id }) => id),
    );
    const first = found.slice(0, exact.length).toSorted();
    const all = new Set([...exact, ...similar].map(({ id }) => id));
    expect({ as, typed, first, all: new Set(found) }).toEqual({
      as,
      typed,
      first: exact.map(({ id }) => id).toSorted(),
      all,
    });
    seen.exact += exact.length;
    seen.similar += all.size - exact.length;
  }
  expect(Math.min(seen.exact, seen.similar)).toBeGreaterThan(100);
  lab.database.close();
});
