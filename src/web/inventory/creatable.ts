/** Lists whose records pickers can create: the fields to ask for, first the one that gets the typed text. */
export const CREATABLE: Readonly<Record<string, readonly string[]>> = {
  places: ["room", "building"],
  equipment: ["name", "model_type", "place"],
  locations: ["label", "parent", "equipment"],
  addresses: ["name"],
  "core/projects": ["name"],
  "assays/experiments": ["name", "project"],
  "vocabularies/categories": ["name"],
  "vocabularies/terms": ["name", "category"],
};

/** What the name of a new record suggests for its other fields. */
export function suggestionsFor(segment: string, name: string): Record<string, string> {
  if (segment !== "equipment") return {};
  const kind = /freezer|fridge|cabinet|incubator|microscope|centrifuge/i.exec(name)?.[0];
  return kind === undefined ? {} : { model_type: kind.toUpperCase() };
}
