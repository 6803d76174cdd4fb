import { type Static, type TObject, type TSchema } from "typebox";
import { type Actor, ANONYMOUS, type SignedIn } from "./actor.ts";
import type { DeferredDetail } from "./documentation.ts";
import type { ErrorStatus } from "./error-responses.ts";
import type { RequestContext } from "./request-context.ts";
import { bodySchema, OptionalInput } from "./schema.ts";

/** Operations of the API: route, access, schemas, documentation and handler in one declaration. `mount` makes routes. */

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
export type OperationKey = `${Method} /${string}`;

/**
 * The callers that may use an operation.
 *
 * - `withoutCredentials`: everybody; the caller proves the right to it otherwise, such as with the key of a link.
 * - `public`: everybody; credentials are ignored.
 * - `anyone`: callers without credentials, or with valid ones.
 * - `signedIn`: callers with an account; tokens must be allowed to write where the operation writes.
 * - `enrolling`: the same, and sessions that must set up a second factor first.
 * - `administrator`: administrators.
 */
export interface Guards {
  /** @throws Problem unauthenticated, forbidden */
  anyone(request: Request): Actor;
  /** @throws Problem unauthenticated, forbidden */
  signedIn(request: Request): SignedIn;
  /** @throws Problem unauthenticated, forbidden */
  enrolling(request: Request): SignedIn;
  /** @throws Problem unauthenticated, forbidden */
  administrator(request: Request): SignedIn;
  /**
   * Requires that the session was confirmed recently, or the password of its user.
   * @throws Problem confirmation_required, invalid_request
   */
  confirmed(request: Request, caller: Actor, password: string): Promise<void>;
}

const SOMEBODY: SignedIn = { ...ANONYMOUS, user: 0, username: "" };

/** For a service without accounts, in which everybody may do everything. */
export const WITHOUT_ACCOUNTS: Guards = {
  anyone: () => ANONYMOUS,
  signedIn: () => SOMEBODY,
  enrolling: () => SOMEBODY,
  administrator: () => SOMEBODY,
  confirmed: async () => {},
};

/** A service may find its caller by a function of its own, which throws a Problem if access is denied. */
type OwnAccess = (request: Request, context: RequestContext) => unknown;
export type NamedAccess = Exclude<keyof Guards, "confirmed"> | "withoutCredentials" | "public";
export type Access = NamedAccess | OwnAccess;

type CallerOf<A> = A extends OwnAccess
  ? ReturnType<A>
  : A extends keyof Guards
    ? A extends "anyone"
      ? Actor
      : SignedIn
    : undefined;

/** The names of the variable parts of a path. */
export type PathParts<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathParts<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** A part of a path: its description, its description and example, or its schema. */
export type PathPart = string | readonly [description: string, example: string] | TSchema;
type PartsOf<Key extends string, Parts> = {
  [Name in PathParts<Key>]: Name extends keyof Parts
    ? Parts[Name] extends string | readonly string[]
      ? string
      : Parts[Name] extends TSchema
        ? Static<Parts[Name]>
        : string
    : string;
};

/** Bodies by media type. */
export type Content = Record<string, { schema?: object; example?: unknown }>;

/** A value, or a function that makes it when the OpenAPI document is requested: schemas of many lists take memory. */
export type Deferred<Value extends object> = Value | (() => Value);

/** Resolves a deferred value. */
export const resolveDeferred = <Value extends object>(given: Deferred<Value>): Value =>
  typeof given === "function" ? given() : given;

/** Parameters that the handler parses, as OpenAPI describes them. `query` is only for the type checker. */
export interface Parameters<Query> extends ReadonlyArray<object> {
  readonly query?: Query;
}

/** One parameter, or several. */
export type AnyParameters = object | Deferred<Parameters<unknown>>;

/** The query that several groups of parameters allow together; parameters without types allow nothing. */
type QueryOf<Groups extends readonly unknown[]> = Groups extends readonly [infer First, ...infer Rest]
  ? QueryOfOne<First> & QueryOf<Rest>
  : object;
type QueryOfOne<Group> = Group extends () => infer Made
  ? QueryOfOne<Made>
  : Group extends { readonly query?: infer Query }
    ? unknown extends Query
      ? object
      : NonNullable<Query>
    : object;

/** What pages send: JSON where the operation takes it. */
type SentAs<Sends> = Sends extends { "application/json": { schema: infer Schema } }
  ? ValueOf<Schema>
  : Blob | FormData;

type ValueOf<Schema> = Schema extends TSchema ? Static<Schema> : undefined;

/** The declared answer, or one of the alternatives. */
type AnswerOf<Answer, Others> = ValueOf<Answer> | ValueOf<Others[keyof Others]>;

/** The input of a handler. */
export interface Given<A, Params, Query, Body> {
  caller: CallerOf<A>;
  params: Params;
  query: Query;
  body: Body;
  request: Request;
  context: RequestContext;
}

type GivenTo<Key extends string, A, Params, Query, Body> = Given<
  A,
  PartsOf<Key, Params>,
  Query extends TObject ? Static<Query> : object,
  ValueOf<Body>
>;

/** An answer with headers, or with another status than the declared one. */
export class Reply<Value> {
  constructor(
    readonly value: Value,
    readonly more: { status?: number; headers?: Record<string, string> },
  ) {}
}

/** The result of a handler. A `Response` is sent unchanged. */
type Returned<Answer> = Answer | Reply<Answer> | Response | (Answer extends undefined ? void : never);

export interface Definition<
  Key extends string,
  A extends Access,
  Params extends Partial<Record<PathParts<Key>, PathPart>>,
  Query extends TObject | undefined,
  Body extends TSchema | undefined,
  Sends extends Content | undefined,
  Answer extends TSchema | undefined,
  Others extends Record<number, TSchema>,
  Groups extends readonly AnyParameters[],
  Dependencies,
> {
  /** Imperative, without a full stop. */
  summary: string;
  description?: string;
  /** The summary in camel case by default. */
  operationId?: string;
  access: A;
  /** True if a browser session must have been confirmed recently; the body may have `current_password`. */
  confirmed?: true;
  params?: Params & Record<Exclude<keyof Params, PathParts<Key>>, never>;
  query?: Query;
  /** Schema of a JSON body. */
  body?: Body;
  /** Bodies of other media types, which the handler reads. */
  sends?: Sends | (() => Sends);
  /** Schema of the JSON answer; without it and `formats` the status is 204. */
  returns?: Answer | (() => Answer);
  /** Answers of other media types. */
  formats?: Content;
  /** Status of success, if it is not 200 or 204. */
  status?: 201 | 202;
  /** Answers of success with other statuses, which a `Reply` gives. */
  alternatives?: Others;
  /** Error statuses that say something about the operation; `default` of its responses has all others. */
  errors?: readonly ErrorStatus[];
  /** True if the handler refuses unknown parameters, because filters are among them. */
  parses?: true;
  /** True if it honours If-Match. */
  ifMatch?: boolean;
  /** True if a POST changes nothing, so that read-only tokens may send it. */
  reads?: true;
  /** True if the documentation leaves it out. */
  hidden?: true;
  /** True if the header Allow leaves the method out. */
  unlisted?: true;
  /**
   * True if the request may take long, so that another process answers it, where the service has some.
   * @param sent a body that the handler parses
   */
  heavy?:
    | true
    | ((
        given: GivenTo<Key, A, Params, Query, Body>,
        dependencies: Dependencies,
        sent: Uint8Array | undefined,
      ) => boolean | Promise<boolean>);
  /** Further documentation: parameters that the handler reads, headers of the answer, and other responses. */
  parameters?: Groups;
  answerHeaders?: Record<string, object>;
  responses?: Record<number, object>;
  run(
    given: GivenTo<Key, A, Params, Query, Body>,
    dependencies: Dependencies,
  ): Returned<AnswerOf<Answer, Others>> | Promise<Returned<AnswerOf<Answer, Others>>>;
}

/** A declared operation. `types` is only for the type checker. */
export interface Operation<Key extends string = string, Types = unknown, Dependencies = never> {
  readonly key: Key;
  readonly about: OperationAbout;
  readonly run: (given: never, dependencies: Dependencies) => unknown;
  readonly heavy:
    | true
    | ((given: never, dependencies: Dependencies, sent: Uint8Array | undefined) => boolean | Promise<boolean>)
    | undefined;
  readonly types?: Types;
}

/** A declaration without the types of its parts. */
export type OperationAbout = Omit<
  Definition<
    string,
    Access,
    Record<string, PathPart>,
    TObject | undefined,
    TSchema | undefined,
    Content | undefined,
    TSchema | undefined,
    Record<number, TSchema>,
    readonly AnyParameters[],
    never
  >,
  "run" | "params" | "heavy" | "sends" | "returns"
> & {
  sends?: Deferred<Content>;
  returns?: Deferred<TSchema>;
  params?: Record<string, PathPart>;
  /** The descriptions of an operation that describes itself, or others with it. */
  describe?: DeferredDetail["describe"];
};

/**
 * Declares an operation. `key` is also its name for the pages, as in `call("POST /api/webhooks/:id/ping/", …)`. The
 * handler gets the caller, the validated input, and the dependencies that are passed to `mount`.
 */
export function operation<
  const Key extends OperationKey,
  const A extends Access,
  Dependencies,
  const Params extends Partial<Record<PathParts<Key>, PathPart>> = object,
  Query extends TObject | undefined = undefined,
  Body extends TSchema | undefined = undefined,
  Sends extends Content | undefined = undefined,
  Answer extends TSchema | undefined = undefined,
  Others extends Record<number, TSchema> = Record<number, never>,
  const Groups extends readonly AnyParameters[] = readonly [],
>(
  key: Key,
  {
    run,
    heavy,
    ...about
  }: Definition<Key, A, Params, Query, Body, Sends, Answer, Others, Groups, Dependencies>,
): Operation<
  Key,
  {
    params: PartsOf<Key, Params>;
    query: (Query extends TObject ? Static<Query> : object) & QueryOf<Groups>;
    body: Sends extends Content ? SentAs<Sends> : ValueOf<Body>;
    answer: AnswerOf<Answer, Others>;
  },
  Dependencies
> {
  return { key, about: about as unknown as OperationAbout, run: run as never, heavy: heavy as never };
}

/** The body of an operation that has none but the confirmation. */
const Confirmation = bodySchema({ current_password: OptionalInput });

/** Schema of the JSON body; undefined if the operation has none. */
export const findBodySchema = ({ body, confirmed }: OperationAbout): TSchema | undefined =>
  body ?? (confirmed ? Confirmation : undefined);
