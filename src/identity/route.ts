import { type AnyElysia, Elysia } from "elysia";
import { OIDC_CALLBACK, OIDC_SIGN_IN, OIDC_SIGN_OUT, type Oidc } from "./oidc.ts";
import { Problem } from "../problem.ts";

const HIDDEN = { parse: "none", detail: { hide: true } } as const;
const ALLOW = "GET";

/** Where browsers leave for the provider, and come back from it. */
export function oidcRoutes(oidc: Oidc | undefined): AnyElysia {
  const app = new Elysia({ name: "oidc" });
  if (!oidc) return app as unknown as AnyElysia;
  const only =
    (answer: (request: Request) => Promise<Response>) =>
    ({ request }: { request: Request }): Promise<Response> => {
      if (request.method !== "GET")
        throw new Problem("method_not_allowed", `Method not allowed. Allowed: ${ALLOW}.`, { allow: ALLOW });
      return answer(request);
    };
  app
    .all(
      OIDC_SIGN_IN,
      only((request) => oidc.leave(request)),
      HIDDEN,
    )
    .all(
      OIDC_SIGN_OUT,
      only((request) => oidc.signOut(request)),
      HIDDEN,
    )
    .all(
      OIDC_CALLBACK,
      only((request) => oidc.comeBack(request)),
      HIDDEN,
    );
  return app as unknown as AnyElysia;
}
