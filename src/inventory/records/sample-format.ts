import type { Json } from "../model/field.ts";

/**
 * The plain JSON from which `loadInventory` fills an installation: records by the field names of the REST
 * interface, references by the name of the record they mean (the name of a place is its building and room with a
 * space between). Records refer only to records of lists that come before theirs below, and a location only to
 * parents earlier in its own list.
 *
 * Every record may carry `id`, a UUID in lower case: then the same record has the same address in every
 * installation, so that documentation can name it. Without one it gets a random id.
 */
export interface InventorySample {
  addresses: AddressSample[];
  places: PlaceSample[];
  equipment: EquipmentSample[];
  locations: LocationSample[];
  /** Vocabulary categories. */
  categories: CategorySample[];
  /** Vocabulary terms, units among them: a term of a category of kind `unit` is a unit. */
  terms: TermSample[];
  /** Field metas. The one named `default` is there in every installation and needs no line here. */
  field_metas: FieldMetaSample[];
  annotation_types: TypeSample[];
  custom_property_types: CustomPropertyTypeSample[];
  projects?: ProjectSample[];
  experiments?: ExperimentSample[];
  assays?: AssaySample[];
  consumables?: ConsumableSample[];
  specimens?: SpecimenSample[];
  views?: ViewSample[];
  stocktakes?: StocktakeSample[];
  annotations?: AnnotationSample[];
  notes?: NoteSample[];
}

/** A location that is looked through. */
export interface StocktakeSample extends RecordSample {
  name: string;
  description?: string;
  /** Id of a location. */
  location: string;
}

/** A list to see again. */
export interface ViewSample extends RecordSample {
  name: string;
  description?: string;
  /** Segment of the list. */
  list: string;
  /** Parameters of the list, as they stand in an address. */
  query: string;
}

/** The record that something is said about: its list in the sample, and its name. */
export interface PartSample {
  list: "experiments" | "assays" | "consumables" | "specimens" | "equipment" | "locations";
  of: string;
}

export interface AnnotationSample extends PartSample {
  /** Name of an annotation type or a custom property type. */
  type: string;
  /** As a body has it: text, a number with a unit such as "5 milligram", or whatever else the type wants. */
  value: Json;
}

export interface NoteSample extends PartSample {
  content: string;
}

/** What every record may say besides its own fields. */
export interface RecordSample {
  /** UUID, lower case. */
  id?: string;
  /** Whether everyone may view it; true where absent. */
  public?: boolean;
  /** Name of the owning group, made where it is missing; SYSTEM_GROUP where absent. */
  owned_by?: string;
}

/** Addresses are numbered by the database; `id` does not apply to them. */
export interface AddressSample extends Omit<RecordSample, "id"> {
  name: string;
  organisation?: string;
  street?: string;
  postcode?: string;
  city?: string;
  region?: string;
  country?: string;
}

export interface PlaceSample extends RecordSample {
  /** May be empty. */
  building: string;
  room: string;
  /** Name of an address. */
  address: string;
  description?: string;
}

export interface EquipmentSample extends RecordSample {
  name: string;
  description?: string;
  /** Serial or inventory number. */
  code?: string;
  /** Kind of equipment, such as FREEZER: upper case letters, digits and `_`. */
  model_type?: string;
  barcode?: string;
  /** Name of a place, such as "A 101". */
  place?: string;
}

export interface LocationSample extends RecordSample {
  label: string;
  description?: string;
  barcode?: string;
  /** Name of the place in which it is. */
  place?: string;
  /** Name of the equipment that it is, or is inside of. */
  equipment?: string;
  /** Label of the location that holds it. Labels of locations named as a parent are unique in the sample. */
  parent?: string;
}

export interface CategorySample extends RecordSample {
  /** Unique in an installation. */
  name: string;
  description?: string;
  kind: "term" | "unit";
}

export interface TermSample extends RecordSample {
  name: string;
  /** Name of a category. */
  category: string;
  label?: string;
  description?: string;
  /** Accession in an ontology, such as "UO:0000016". */
  dbxref_id?: string;
  /** Place in the list of its category, from 0. */
  position?: number;
}

export interface FieldMetaSample extends RecordSample {
  name: string;
  description?: string;
}

/**
 * A type of annotation. `type` is one of TEXT, OBJECT, JSON, DMAPPANNOTATION, VOCABULARYTERM, NUMBERUNIT (or NUMBER,
 * DATE, USER). Whatever is absent gets what a write through the interface gives it: label from name, choice_label
 * from label, widgets from type, field_meta `default`.
 */
export interface TypeSample extends RecordSample {
  name: string;
  type: string;
  label?: string;
  choice_label?: string;
  description?: string;
  help_text?: string;
  /** The default value as a string; together with `has_default: true`. */
  default?: string;
  has_default?: boolean;
  multiple?: boolean;
  is_protocol_parameter?: boolean;
  autocomplete?: string;
  searchable?: boolean;
  readonly?: boolean;
  sortable?: boolean;
  /** Name of a category of kind `term`; needed where type is VOCABULARYTERM. */
  cv_category?: string;
  /** Name of a category of kind `unit`, where type is NUMBERUNIT; without one every unit is a choice. */
  unit_category?: string;
  mandatory?: boolean;
  /** An entry named `required` is added by itself where `mandatory` is true. */
  validations?: { name: string; arguments: (string | number | boolean)[]; error_message: string }[];
  visibility?: string;
  edit_visibility?: string;
  list_visibility?: string;
  /** Pairs of value and label, for a fixed choice. */
  value_choices?: [string, string][] | null;
  choices_value?: string;
  choices_label?: string;
  /** Where type is OBJECT: segment of the resource whose records are the choices, such as "equipment" or "locations". */
  choices_target?: string;
  preferred_view_widget?: string;
  preferred_edit_widget?: string;
  preferred_list_widget?: string;
  /** Name of a field meta. */
  field_meta?: string;
}

export interface CustomPropertyTypeSample extends TypeSample {
  /** Such as stocks.specimen or stocks.consumable. */
  model_name: string;
  /** Such as FISH, ANTIBODY or OTHER. */
  model_type: string;
}

export interface ProjectSample extends RecordSample {
  name: string;
  description?: string;
}

export interface ExperimentSample extends RecordSample {
  name: string;
  description?: string;
  /** Upper case letters, digits and `_`. */
  status?: string;
  /** Name of a project. */
  project?: string;
  is_frozen?: boolean;
  /** Days or times, ISO 8601. */
  start_date?: string;
  completed_date?: string;
}

export interface AssaySample extends RecordSample {
  name: string;
  description?: string;
  model_type?: string;
  state?: string;
  /** Name of an experiment. */
  experiment?: string;
}

/** A consumable or a specimen. */
export interface SpecimenSample extends RecordSample {
  name: string;
  description?: string;
  /** Such as ANTIBODY or FISH. */
  model_type?: string;
  status?: string;
  barcode?: string;
  /** Label of a location, or its id. */
  location?: string;
}

export interface ConsumableSample extends SpecimenSample {
  amount?: number;
  /** Name of a term of a list of units. */
  unit?: string;
}
