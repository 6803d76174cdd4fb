import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";

/** Explains that a one-time link is no longer valid, and how to get a new one. */
export const UsedLink = () => (
  <section class="empty">
    <Icon name="circle-alert" />
    <h1>This link has been used or has expired</h1>
    <p>
      If you have an account, sign in. Otherwise ask an administrator for a new link. While there is no
      administrator, the log shows a new set-up link each time the service starts.
    </p>
    <div class="actions">
      <LinkButton look="primary" href={href("/sign-in")}>
        Sign in
      </LinkButton>
    </div>
  </section>
);
