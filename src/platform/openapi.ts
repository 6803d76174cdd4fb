/** The parts of an OpenAPI 3.0 document that the reference shows. */
export interface OpenApi {
  info: { title: string; version: string; description?: string };
  tags?: { name: string; description?: string }[];
  /** Parts of the program, and the resources of each. */
  "x-tagGroups"?: { name: string; tags: string[] }[];
  paths: Record<string, PathItem>;
  components?: Record<string, Record<string, object>>;
}

/** The operations of a path by method, and the parameters of all of them. */
export type PathItem = { [method: string]: Operation } & { parameters?: Parameter[] };

export interface Parameter {
  $ref?: string;
  /** The name of the component that it will be. */
  $id?: string;
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
  example?: unknown;
}

export interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: unknown[];
  parameters?: Parameter[];
  requestBody?: Message & { required?: boolean };
  responses?: Record<string, Message>;
}

export interface Message {
  $ref?: string;
  description?: string;
  content?: Content;
}

export type Content = Record<string, { schema?: Schema; example?: unknown }>;

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  const?: unknown;
  enum?: unknown[];
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  example?: unknown;
  oneOf?: Schema[];
  allOf?: Schema[];
}
