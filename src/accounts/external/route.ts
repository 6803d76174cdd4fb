import { Elysia } from "elysia";
import { OIDC_BACK_CHANNEL, OIDC_CALLBACK, OIDC_SIGN_IN, OIDC_SIGN_OUT, type OidcSignIn } from "./oidc.ts";

const HIDDEN = { detail: { hide: true } };

/** Redirects of browsers to the provider and back, and its back-channel logout. */
export function oidcRoutes(oidc: OidcSignIn | undefined) {
  const app = new Elysia({ name: "oidc" });
  if (!oidc) return app;
  return app
    .get(OIDC_SIGN_IN, ({ request }) => oidc.startSignIn(request), HIDDEN)
    .get(OIDC_SIGN_OUT, ({ request }) => oidc.signOut(request), HIDDEN)
    .get(OIDC_CALLBACK, ({ request }) => oidc.callback(request), HIDDEN)
    .post(OIDC_BACK_CHANNEL, ({ request }) => oidc.backChannelLogout(request), { ...HIDDEN, parse: "none" });
}
