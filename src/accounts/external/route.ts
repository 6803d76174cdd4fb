import { Elysia } from "elysia";
import { OIDC_BACK_CHANNEL, OIDC_CALLBACK, OIDC_SIGN_IN, OIDC_SIGN_OUT, type OidcSignIn } from "./oidc.ts";

const acceptParameters = (...names: string[]) => ({
  detail: { input: { parameters: names.length > 0 ? names : undefined, ifMatch: false } } as object,
});

/** Redirects of browsers to the provider and back, and its back-channel logout. */
export function oidcRoutes(oidc: OidcSignIn | undefined) {
  const app = new Elysia({ name: "oidc", detail: { hide: true } });
  if (!oidc) return app;
  return (
    app
      .get(OIDC_SIGN_IN, ({ request }) => oidc.startSignIn(request), acceptParameters("next", "again"))
      .get(OIDC_SIGN_OUT, ({ request }) => oidc.signOut(request))
      // Providers add parameters of their own (RFC 6749, section 4.1.2).
      .get(OIDC_CALLBACK, ({ request }) => oidc.callback(request), acceptParameters())
      .post(OIDC_BACK_CHANNEL, ({ request }) => oidc.backChannelLogout(request), { parse: "none" })
  );
}
