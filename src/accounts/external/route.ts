import { Elysia } from "elysia";
import { OIDC_BACK_CHANNEL, OIDC_CALLBACK, OIDC_SIGN_IN, OIDC_SIGN_OUT, type OidcSignIn } from "./oidc.ts";

/** Redirects of browsers to the provider and back, and its back-channel logout. */
export function oidcRoutes(oidc: OidcSignIn | undefined) {
  const app = new Elysia({ name: "oidc", detail: { hide: true } });
  if (!oidc) return app;
  return app
    .get(OIDC_SIGN_IN, ({ request }) => oidc.startSignIn(request))
    .get(OIDC_SIGN_OUT, ({ request }) => oidc.signOut(request))
    .get(OIDC_CALLBACK, ({ request }) => oidc.callback(request))
    .post(OIDC_BACK_CHANNEL, ({ request }) => oidc.backChannelLogout(request), { parse: "none" });
}
