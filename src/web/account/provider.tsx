import { href, signInProvider } from "../address.ts";
import { Banner } from "../components/banner.tsx";
import { LinkButton } from "../components/button.tsx";
import { useQuery } from "../page.tsx";

/** Why signing in at the provider failed, by the code in the address. */
const REASONS: Readonly<Record<string, string>> = {
  away: "The provider does not respond. Try again in a few minutes, or use a password of this server.",
  refused: "The provider did not confirm your identity.",
  invalid: "The provider's response could not be verified. The log has details for administrators.",
  expired: "The sign-in took too long, or was started in another browser. Start again.",
  throttled: "Too many attempts have failed. Wait a few minutes.",
  not_allowed: "Your groups do not have permission to sign in. Ask an administrator.",
  disabled: "Your account is disabled. Ask an administrator to enable it.",
  no_account: "You have no account yet. Ask an administrator to create and link one.",
  name_taken: "An account with your name is not linked to you. Ask an administrator to link it.",
  name_unusable: "Your name cannot be a username. Ask an administrator to create and link an account.",
};

/** The way to sign in at a provider, if there is one, and why it failed. */
export function ProviderSignIn() {
  const [query] = useQuery();
  const provider = signInProvider();
  const refused = query.get("refused") ?? "";
  if (provider === "") return null;
  return (
    <>
      {Object.hasOwn(REASONS, refused) && (
        <Banner tone="danger" role="alert">
          <strong>Signing in with {provider} failed.</strong> {REASONS[refused]}
        </Banner>
      )}
      <LinkButton href={href("/api/oidc/sign-in", { next: query.get("next") })}>
        {`Sign in with ${provider}`}
      </LinkButton>
      <p class="muted">Or use a username and password:</p>
    </>
  );
}
