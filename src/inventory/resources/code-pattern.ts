import { text } from "../model/field.ts";
import { NO_CODES, parseCodePattern } from "../model/code-pattern.ts";
import { ownedResource, type Resource } from "../model/resource.ts";
import { listTitle } from "./lists.ts";
import { modelType } from "./model-type.ts";

/**
 * Administrators set the patterns; they apply to the records of everyone.
 * @param lists those whose records have codes
 */
export const codePattern = (lists: readonly Resource[]): Resource => {
  const segments = lists.flatMap(({ segment }) => segment ?? []);
  const typed = lists.filter(({ fields }) => "model_type" in fields).flatMap(({ segment }) => segment ?? []);
  return ownedResource({
    name: "code_pattern",
    segment: "codepatterns",
    model: "core.codepattern",
    summary: "Patterns by which new records without a barcode get the next free code.",
    table: "code_pattern",
    access: { isPrivate: true },
    key: "pattern",
    nameFields: ["pattern"],
    descriptionFields: [],
    defaultOrder: ["list", "model_type"],
    fields: {
      pattern: text(`Pattern, such as CO{7} for CO0000001; ${NO_CODES} for no codes.`, {
        write: "required",
        blank: false,
        folded: "pattern_fold",
        example: "CO{7}",
        maxLength: 50,
      }),
      list: text("Segment of the list.", {
        write: "required",
        blank: false,
        choices: segments,
        example: "stocks/consumables",
        form: { hint: "", words: Object.fromEntries(segments.map((each) => [each, [listTitle(each)]])) },
      }),
      model_type: {
        ...modelType("Kind of record that it is for; all others without one."),
        form: { label: "Type", hint: "Empty for all other types.", when: { field: "list", values: typed } },
      },
    },
    rules({ pattern, list, model_type }, _given, _previous, { actor }) {
      if (!actor.superuser) return { pattern: "Only an administrator may set patterns of codes." };
      if (pattern !== NO_CODES && parseCodePattern(String(pattern)) === undefined)
        return {
          pattern: `Expected text with the number of digits in braces, such as CO{7}, or ${NO_CODES}.`,
        };
      const hasTypes = model_type === "" || typed.includes(String(list));
      return hasTypes ? {} : { model_type: "Records of this list have no types." };
    },
    check({ rid = -1, list, model_type }, _previous, { query }) {
      const sql = "SELECT 1 FROM code_pattern WHERE list = ? AND model_type = ? AND deleted = 0 AND rid <> ?";
      const taken = query.all({ text: sql, args: [list, model_type, rid] }).length > 0;
      return taken ? { list: "There is already a pattern for this list and type. Change that one." } : {};
    },
  });
};
