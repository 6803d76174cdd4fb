import type { OpenApi, Operation, Parameter, PathItem, Schema } from "../platform/openapi.ts";
import { Problem } from "../problem.ts";
import type { CalledOperation } from "./tools.ts";

type Members = Record<string, unknown>;

/** A request to an operation of this server. */
export interface OperationRequest {
  method: string;
  /** Path with its query. */
  target: string;
  body: Members | undefined;
}

interface Argument {
  name: string;
  in: "path" | "query" | "body";
  isRequired: boolean;
  schema: Schema;
}

const LIST = "{list}";

/** An operation as OpenAPI describes it, and how arguments become a request to it. */
export class DeclaredCall {
  readonly method: string;
  readonly #path: string;
  readonly #arguments: readonly Argument[];

  private constructor(
    private readonly document: OpenApi,
    private readonly called: CalledOperation,
    readonly declared: Operation,
    { parameters = [] }: PathItem,
    /** The lists that `{list}` stands for; empty if the path has none. */
    readonly lists: readonly string[],
  ) {
    [this.method, this.#path] = called.operation.split(" ");
    const all = [...parameters, ...(declared.parameters ?? [])].map((each) => this.#resolve(each));
    const schema = { type: "string", enum: [...lists], description: "The list." };
    const list = { name: "list", in: "path", required: true, schema };
    const given = [...(lists.length > 0 ? [list as Parameter] : []), ...all].map((each) => ({
      name: each.name,
      in: each.in as Argument["in"],
      isRequired: each.required === true,
      schema: { description: each.description ?? "", ...this.#expand(each.schema ?? {}) },
    }));
    const members = Object.entries(this.#body.properties ?? {}).map(([name, schema]) => ({
      name,
      in: "body" as const,
      isRequired: this.#body.required?.includes(name) === true,
      schema,
    }));
    this.#arguments = [...given, ...members].filter(
      (each) => each.in === "path" || called.takes.includes(each.name),
    );
  }

  /** Undefined if the server has no such operation. */
  static find(document: OpenApi, called: CalledOperation): DeclaredCall | undefined {
    const [method, template] = called.operation.split(" ");
    const name = method.toLowerCase();
    const open = (path: string, lists: readonly string[]): DeclaredCall | undefined => {
      const item = document.paths[path];
      return item?.[name] && new DeclaredCall(document, called, item[name], item, lists);
    };
    const own = open(template, []);
    if (own) return own;
    const pattern = new RegExp(
      `^${template.replace(LIST, "([a-z_]+(?:/[a-z_]+)?)").replace(/[{}]/g, "\\$&")}$`,
    );
    const found = Object.keys(document.paths).flatMap((path) => {
      const [, list] = pattern.exec(path) ?? [];
      return list !== undefined && open(path, [list])?.isComplete === true ? [{ path, list }] : [];
    });
    const lists = found.map(({ list }) => list);
    return found.length === 0 ? undefined : open(found[0].path, lists);
  }

  /** True if the operation has all arguments. */
  get isComplete(): boolean {
    return this.called.takes.every((name) => this.#arguments.some((each) => each.name === name));
  }

  /** JSON Schema of the arguments, by name, and the names of those that are required. */
  input(defaults: Members = {}): { properties: Record<string, Schema>; required: string[] } {
    const taken = this.#arguments.filter(({ name }) => this.called.takes.includes(name));
    const properties = taken.map(({ name, schema }) => [
      name,
      name in defaults ? { ...schema, default: defaults[name] } : schema,
    ]);
    const required = taken.filter(({ isRequired }) => isRequired).map(({ name }) => name);
    return { properties: Object.fromEntries(properties) as Record<string, Schema>, required };
  }

  /** JSON Schema of the JSON answer, with these members only; any object if it differs between lists. */
  output(returns?: readonly string[]): Schema {
    const success = Object.entries(this.declared.responses ?? {}).find(([status]) => status < "300");
    const content = success && this.#resolve(success[1]).content;
    const schema = this.lists.length > 0 ? {} : this.#expand(content?.["application/json"]?.schema ?? {});
    const { properties = {}, required = [] } = schema;
    const isShown = (name: string): boolean => returns?.includes(name) !== false;
    return {
      type: "object",
      properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isShown(name))),
      required: required.filter(isShown),
    };
  }

  /** @throws Problem invalid_request if an argument of the path is missing or no list */
  request(given: Members): OperationRequest {
    const query = new URLSearchParams();
    const body = { ...this.called.sends };
    let path = this.#path;
    for (const { name, in: place, schema } of this.#arguments) {
      const value = given[name] ?? undefined;
      if (place === "path") path = path.replace(`{${name}}`, pathPart(name, value, schema));
      else if (value === undefined) continue;
      else if (place === "body") body[name] = value;
      else query.set(name, Array.isArray(value) ? value.join(",") : printValue(value));
    }
    const target = query.size === 0 ? path : `${path}?${query}`;
    return { method: this.method, target, body: this.method === "GET" ? undefined : body };
  }

  get #body(): Schema {
    const message = this.declared.requestBody && this.#resolve(this.declared.requestBody);
    return this.#expand(message?.content?.["application/json"]?.schema ?? {});
  }

  /** The part that a reference names, which may be a reference itself. */
  #resolve<Part extends { $ref?: string }>({ $ref, ...part }: Part): Part {
    if ($ref === undefined) return part as Part;
    const [, ...names] = $ref.split("/");
    const named = names.reduce<unknown>((at, name) => (at as Members)[name], this.document) as Part;
    return { ...this.#resolve(named), ...part };
  }

  /** A schema without references and examples: many clients follow no references. */
  #expand(schema: Schema): Schema {
    const entries = Object.entries(this.#resolve(schema)).filter(([name]) => !/^examples?$/.test(name));
    const each = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(each);
      return value !== null && typeof value === "object" ? this.#expand(value) : value;
    };
    const members = (value: object) => Object.entries(value).map(([name, part]) => [name, each(part)]);
    return Object.fromEntries(
      entries.map(([name, value]) => [
        name,
        name === "properties" ? Object.fromEntries(members(value)) : each(value),
      ]),
    ) as Schema;
  }
}

const printValue = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function pathPart(name: string, value: unknown, { enum: choices }: Schema): string {
  if (typeof value !== "string" || /^\.{0,2}$/.test(value) || choices?.includes(value) === false)
    throw new Problem(
      "invalid_request",
      `${name}: expected ${choices ? `one of ${choices.join(", ")}` : "an id"}.`,
    );
  return choices ? value : encodeURIComponent(value);
}
