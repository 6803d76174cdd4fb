import { type AnyElysia, Elysia } from "elysia";
import { OIDC_BACK_CHANNEL, OIDC_CALLBACK, OIDC_SIGN_IN, OIDC_SIGN_OUT, type OidcSignIn } from "./oidc.ts";
import { Problem } from "../../problem.ts";

const HIDDEN = { parse: "none", detail: { hide: true } } as const;

/** Where browsers leave for the provider, and come back from it; and where it says who has signed out there. */
export function oidcRoutes(oidc: OidcSignIn | undefined): AnyElysia {
  const app = new Elysia({ name: "oidc" });
  if (!oidc) return app as unknown as AnyElysia;
  const only =
    (method: "GET" | "POST", answer: (request: Request) => Promise<Response>) =>
    ({ request }: { request: Request }): Promise<Response> => {
      if (request.method !== method)
        throw new Problem("method_not_allowed", `Method not allowed. Allowed: ${method}.`, { allow: method });
      return answer(request);
    };
  app
    .all(
      OIDC_SIGN_IN,
      only("GET", (request) => oidc.startSignIn(request)),
      HIDDEN,
    )
    .all(
      OIDC_SIGN_OUT,
      only("GET", (request) => oidc.signOut(request)),
      HIDDEN,
    )
    .all(
      OIDC_CALLBACK,
      only("GET", (request) => oidc.callback(request)),
      HIDDEN,
    )
    .all(
      OIDC_BACK_CHANNEL,
      only("POST", (request) => oidc.backChannelLogout(request)),
      HIDDEN,
    );
  return app as unknown as AnyElysia;
}
