import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { definePage } from "../page.tsx";

const Missing = () => (
  <section class="empty">
    <Icon name="search-x" />
    <h1>Page not found</h1>
    <p>The address may be incomplete, or from another version of labd.</p>
    <div class="actions">
      <LinkButton look="primary" href={href("/")}>
        Go to the home page
      </LinkButton>
    </div>
  </section>
);

/** Shown to browsers wherever there is nothing; it has no path. */
export const missingPage = definePage({
  name: "missing",
  paths: [],
  title: "Page not found",
  View: Missing,
});
