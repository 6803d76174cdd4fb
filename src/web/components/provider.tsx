import { href, signInProvider } from "../address.ts";
import { useQuery } from "../page.tsx";

/** Why the provider, or we after it, did not let somebody in: words for what the address says. */
const REFUSED: Readonly<Record<string, string>> = {
  away: "It does not answer. Try again in a while; accounts with a password here sign in as ever.",
  refused: "It did not confirm who you are.",
  invalid: "What it said cannot be relied on. An administrator finds more in the log.",
  expired: "That took too long, or was begun in another browser. Begin again.",
  throttled: "Too many attempts came to nothing. Wait a few minutes.",
  not_allowed: "You are in none of the groups that may sign in. An administrator can say which these are.",
  disabled: "Your account is disabled. An administrator can enable it.",
  no_account: "There is no account for you yet. An administrator can make one and link it to you.",
  name_taken: "There is an account of your name that is not linked to you. An administrator can link it.",
  name_unusable: "Your name cannot be that of an account. An administrator can make one and link it to you.",
};

/** The way to sign in at a provider, where there is one, and why it came to nothing. */
export function ProviderSignIn() {
  const [query] = useQuery();
  const provider = signInProvider();
  const refused = query.get("refused") ?? "";
  if (provider === "") return null;
  return (
    <>
      {Object.hasOwn(REFUSED, refused) && (
        <div class="failure" role="alert">
          <p>
            <strong>Signing in with {provider} did not work.</strong> {REFUSED[refused]}
          </p>
        </div>
      )}
      <p>
        <a class="button" href={href("/api/oidc/sign-in", { next: query.get("next") })}>
          Sign in with {provider}
        </a>
      </p>
      <p>Or with a name and a password:</p>
    </>
  );
}
