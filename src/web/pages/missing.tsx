import { href } from "../address.ts";
import { definePage } from "../page.tsx";
import { LinkButton } from "../components/button.tsx";

function Missing() {
  return (
    <>
      <h1>There is no such page</h1>
      <p class="lead">The address may be incomplete, or of another version. Nothing was changed.</p>
      <p class="row">
        <LinkButton look="primary" href={href("/")}>
          To the beginning
        </LinkButton>
        <LinkButton href={href("/score")}>Score a motif</LinkButton>
        <LinkButton href={href("/inventory")}>Inventory</LinkButton>
      </p>
    </>
  );
}

/** What browsers are shown where nothing is; it is at no path of its own. */
export const missingPage = definePage({
  name: "missing",
  paths: [],
  title: "No such page",
  View: Missing,
});
