import { Elysia } from "elysia";
import { type Call, missingCredentials, unwrap } from "./call.ts";
import { readJson } from "./request-body.ts";
import { requestPlugin } from "../../platform/http.ts";
import type { RequestContext } from "../../platform/request-context.ts";

export type OpenCall = (request: Request, context: RequestContext, reads: boolean) => Omit<Call, "allow">;

/** Supplies `call`, refuses anonymous callers where `signedIn` is set, and sends `Allow`. */
export const createPlugin = (
  open: OpenCall,
  maxBytes: number,
  { allowed, reading }: { allowed: ReadonlyMap<string, string>; reading: ReadonlySet<string> },
) =>
  new Elysia()
    .use(requestPlugin)
    .parser("unwrappedJson", async ({ request }) => unwrap(await readJson(request, maxBytes)))
    .derive(({ request, requestContext, route }) => ({
      call: Object.assign(open(request, requestContext, reading.has(route)), {
        allow: allowed.get(route) ?? "OPTIONS",
      }) as Call,
    }))
    .macro({
      signedIn: {
        transform: (context: object) => {
          if ((context as { call: Call }).call.actor.user === null) throw missingCredentials();
        },
      },
    })
    .onAfterHandle(({ call, responseValue }) => {
      if (responseValue instanceof Response) responseValue.headers.set("Allow", call.allow);
    });
