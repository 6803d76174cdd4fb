import type { Actor } from "../model/access.ts";
import { ALIVE, and, compare } from "../model/condition.ts";
import { isObject, type Json, type JsonObject, parseUuid } from "../model/field.ts";
import { invalidField } from "../model/parse-body.ts";
import { selectVisible } from "../model/plan.ts";
import type { Resource } from "../model/resource.ts";
import { DECLARED } from "../resources/index.ts";
import type { RecordWriter } from "./record-writer.ts";
import type { Store } from "./store.ts";
import { Problem } from "../../problem.ts";

/**
 * Datasets that LabID's client registers, with the records they refer to. Ids of new records hold within the
 * registration.
 */
export interface Registration {
  /** Folder that relative paths of files begin at. */
  input_dir?: string;
  /** Name or id of the group that gets the records. */
  owned_by?: string;
  allow_pooled_samples?: boolean;
  collections?: Described[];
  samples?: Described[];
  assays?: Described[];
  datasets: Described[];
}
type Described = JsonObject;

/** Created records, by list; and the assays whose data are registered now. */
export type Registered = Record<"collections" | "samples" | "datasets" | "assays", Named[]> & {
  datafiles: number;
};
type Named = { id: string; name: string };

/** State of an assay whose data are registered. */
const REGISTERED = "REGISTERED";

/** Creates the records of a registration. @throws Problem that names the part that is wrong */
export function register(
  store: Store,
  writer: RecordWriter,
  registration: Registration,
  actor: Actor,
): Registered {
  return new Registrar(store, writer, registration, actor).run();
}

class Registrar {
  readonly #done: Registered = { collections: [], samples: [], datasets: [], assays: [], datafiles: 0 };
  /** Ids of records by the ids that the registration gives them. */
  readonly #ids = new Map<string, string>();

  constructor(
    private readonly store: Store,
    private readonly writer: RecordWriter,
    private readonly registration: Registration,
    private readonly actor: Actor,
  ) {}

  run(): Registered {
    const { assays = [], datasets } = this.registration;
    checkPooling(this.registration);
    for (const list of ["collections", "samples"] as const)
      for (const [i, given] of (this.registration[list] ?? []).entries())
        within(`${list}[${i}]`, () => this.#addOrFind(list, given));
    for (const [i, given] of datasets.entries()) within(`datasets[${i}]`, () => this.#addDataset(given));
    const measured = [...assays.map(({ id }) => id), ...datasets.map(({ assay }) => assay ?? null)];
    for (const id of new Set(measured)) if (id !== null) this.#completeAssay(String(id));
    return this.#done;
  }

  /** A collection or a sample: that of this id, unless it is said to be new or there is none. */
  #addOrFind(list: "collections" | "samples", given: Described): void {
    const resource = DECLARED.get(list === "samples" ? "sample" : "dataset_collection")!;
    const named = String(given.id ?? given.name);
    const known = given.new === true ? undefined : this.#find(resource, named);
    const id = known === undefined ? this.#add(resource, given) : named;
    if (known === undefined) this.#done[list].push({ id, name: String(given.name) });
    this.#ids.set(named, id);
  }

  #addDataset(given: Described): void {
    const files = given.datafiles;
    if (!Array.isArray(files)) throw invalidField("datafiles", "Expected a list of files.");
    const { collection, collections = [], samples = [] } = given;
    const listed = [...(collections as Json[]), ...((collection ?? "") === "" ? [] : [collection])];
    const known = (named: Json): Json => this.#ids.get(String(named)) ?? named;
    const id = this.#add(DECLARED.get("dataset")!, {
      ...given,
      collections: listed.map(known),
      samples: (Array.isArray(samples) ? samples : []).map(known),
    });
    this.#done.datasets.push({ id, name: String(given.name) });
    for (const [i, file] of files.entries())
      within(`datafiles[${i}]`, () => this.#addFile(isObject(file) ? file : {}, id));
  }

  /** A file and its primary copy. */
  #addFile(given: Described, dataset: string): void {
    const uri = this.#relativePath(String(given.uri ?? given.name ?? ""));
    const name = uri.split("/").at(-1) ?? uri;
    const { checksum = "", filesize = 0, type = "" } = given;
    const datafile = this.#add(DECLARED.get("datafile")!, {
      filetype: type,
      md5sum: checksum,
      byte: filesize,
      ...given,
      name,
      uri,
      dataset,
    });
    const { owner = null, owned_by = null } = given;
    const access = { ...(owner === null ? {} : { owner }), ...(owned_by === null ? {} : { owned_by }) };
    this.#add(DECLARED.get("datafile_copy")!, { name, uri, datafile, is_primary_copy: true, ...access });
    this.#done.datafiles++;
  }

  #relativePath(uri: string): string {
    const { input_dir = "" } = this.registration;
    const isWhole = uri.startsWith("/") || /^[a-z][a-z0-9+.-]*:/i.test(uri);
    return isWhole || input_dir === "" ? uri : `${input_dir.replace(/\/+$/, "")}/${uri}`;
  }

  /** Creates a record from the members that the resource accepts: the client also sends members of its own objects. */
  #add(resource: Resource, given: Described): string {
    const { owned_by } = this.registration;
    const body: JsonObject = owned_by === undefined ? {} : { owned_by };
    for (const [name, value] of Object.entries(given)) {
      const field = Object.hasOwn(resource.fields, name) ? resource.fields[name] : undefined;
      if (field && field.write !== "never" && value !== null) body[name] = value;
    }
    const { type = "DEFAULT" } = given;
    if ("model_type" in resource.fields && type !== "DEFAULT") body.model_type ??= type;
    const rid = this.writer.create(resource, body, this.actor);
    return String(this.writer.current(resource, rid).id);
  }

  #find(resource: Resource, typed: string): number | undefined {
    const id = parseUuid(typed);
    return id === undefined ? undefined : this.store.reader.find(resource, id, ALIVE, this.actor);
  }

  #completeAssay(typed: string): void {
    const assay = DECLARED.get("assay")!;
    const rid = this.#find(assay, typed);
    if (rid === undefined) throw invalidField("assays", `There is no assay ${JSON.stringify(typed)}.`);
    const { id, name, state } = this.writer.current(assay, rid);
    this.#done.assays.push({ id: String(id), name: String(name) });
    if (state !== REGISTERED) this.writer.update(assay, rid, { state: REGISTERED }, "merge", this.actor);
  }
}

/** @throws Problem for a sample of several datasets of a collection, if pooling is not allowed */
function checkPooling({ allow_pooled_samples: isAllowed = true, datasets }: Registration): void {
  const seen = new Set<string>();
  for (const [i, { collection = "", samples }] of isAllowed ? [] : datasets.entries())
    for (const sample of Array.isArray(samples) ? samples : []) {
      const key = JSON.stringify([collection, sample]);
      if (seen.has(key))
        throw invalidField(
          "datasets",
          `datasets[${i}]: the sample is already that of another dataset of the collection. Allow it by allow_pooled_samples.`,
        );
      seen.add(key);
    }
}

/** Error that names the wrong part of a request. */
export function within<T>(where: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "invalid_request") throw error;
    const list = where.replace(/\[.*/, "");
    throw invalidField(list, `${where}: ${error.message.replace(new RegExp(`^${list}: `), "")}`);
  }
}

/** The assays of a run, to which datasets registered for the run belong. */
export function listAssays(store: Store, run: number, actor: Actor): string[] {
  const condition = and(compare(["instrumentrun", "rid"], "==", run), ALIVE);
  const viewer = { resources: DECLARED, actor };
  const found = selectVisible(viewer, DECLARED.get("assay")!, "t.id AS id", condition);
  return store.statements.all(found).map(({ id }) => String(id));
}
