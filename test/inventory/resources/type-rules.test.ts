import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Answered, type Lab, openLab } from "../harness.ts";
import { IDS } from "../sample.ts";

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.database.close());

const send = (method: string, path: string, body?: unknown, as = "alice"): Promise<Answered> =>
  lab.send(as, method, path, body);

describe("the rules of types:", () => {
  const create = (body: object, path = "annotationtypes/"): Promise<Answered> =>
    send("POST", `${path}?fields=*`, { name: "x", type: "TEXT", ...body });

  test("`mandatory` adds its validation and removes it", async () => {
    const made = await create({ mandatory: true, label: "Dose" });
    expect(made.body.validations).toEqual([
      { name: "required", arguments: [], error_message: "Dose is required." },
    ]);
    const off = await send("PATCH", `annotationtypes/${made.body.id}/`, { mandatory: false });
    expect(off.body).toMatchObject({ mandatory: false, validations: [] });
    const own = [
      { name: "range", arguments: [0, 9], error_message: "0 to 9" },
      { name: "required", arguments: [], error_message: "Please!" },
    ];
    const kept = await send("PATCH", `annotationtypes/${made.body.id}/`, {
      mandatory: true,
      validations: own,
    });
    expect(kept.body.validations).toEqual([own[1], own[0]]);
    expect((await create({ validations: [own[1]] })).body.validations).toEqual([]);
  });

  test("a type has a default if and only if has_default is true", async () => {
    expect((await create({ has_default: false, default: "a" })).body).toMatchObject({
      has_default: false,
      default: "",
    });
    expect((await create({ default: "a" })).body).toMatchObject({ has_default: true, default: "a" });
    expect((await create({ has_default: true, default: 5 })).body).toMatchObject({ default: "5" });
    const wrong = await create({ has_default: true });
    expect(wrong.body).toMatchObject({ default: ["This field may not be blank if has_default is true."] });
  });

  test("VOCABULARYTERM requires a category, and other types have none", async () => {
    expect((await create({ type: "VOCABULARYTERM" })).body).toMatchObject({
      cv_category: ["This field is required if type is VOCABULARYTERM."],
    });
    const made = await create({ type: "VOCABULARYTERM", cv_category: "Tissue" });
    expect(made.body).toMatchObject({
      cv_category: IDS.tissue,
      choices_api: `http://lab/api/v2/vocabularies/terms/?category_id=${IDS.tissue}&page_size=max&fields=id,name&response_format=flat`,
      preferred_edit_widget: "CVEDIT",
    });
    expect((await create({ cv_category: "Tissue" })).body).toMatchObject({
      cv_category: null,
      choices_api: null,
    });
    const changed = await send("PATCH", `annotationtypes/${made.body.id}/`, { type: "TEXT" });
    expect(changed.body).toMatchObject({
      cv_category: null,
      choices_api: null,
      preferred_edit_widget: "TEXTINPUT",
    });
  });

  test("NUMBERUNIT sets its widgets, links to its units, and is not searchable by default", async () => {
    const made = await create({ type: "NUMBERUNIT", unit_category: "Mass", preferred_view_widget: "TEXT" });
    expect(made.body).toMatchObject({
      searchable: false,
      unit_category: IDS.mass,
      preferred_view_widget: "NUMBERUNIT",
      preferred_edit_widget: "NUMBERUNIT",
      preferred_list_widget: "NUMBERUNIT",
      unit_choices_api: `http://lab/api/v2/vocabularies/terms/?category_id=${IDS.mass}&page_size=max&fields=id,name&response_format=flat`,
    });
    const any = await create({ type: "NUMBERUNIT", searchable: true });
    expect(any.body).toMatchObject({ searchable: true, unit_category: null });
    expect(any.body.unit_choices_api).toContain("category__kind=unit");
    expect((await create({ unit_category: "Mass" })).body).toMatchObject({
      unit_category: null,
      unit_choices_api: null,
    });
  });

  test("OBJECT links to the list of its target", async () => {
    const made = await create({
      type: "OBJECT",
      choices_target: "stocks/consumables?type=ANTIBODY",
      choices_label: "label",
    });
    expect(made.body.choices_api).toBe(
      "http://lab/api/v2/stocks/consumables/?type=ANTIBODY&page_size=max&fields=id,label&response_format=flat",
    );
  });

  test("labels default to the name, and the field `meta` to its default", async () => {
    expect((await create({ label: "Dose" })).body).toMatchObject({ label: "Dose", choice_label: "Dose" });
    expect((await create({})).body).toMatchObject({
      label: "x",
      choice_label: "x",
      field_meta: "00000000-0000-4000-8000-000000000003",
    });
  });
});

test("rejects a unit category whose kind is not unit", async () => {
  const make = (unit_category: string) =>
    send("POST", "annotationtypes/", { name: "w", type: "NUMBERUNIT", unit_category }, "admin");
  const refused = await make("Tissue");
  const error = "Expected a category whose kind is unit.";
  expect([refused.status, refused.body.unit_category]).toEqual([400, [error]]);
  expect((await make("Mass")).status).toBe(201);
});
