import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { TextField } from "../components/field.tsx";
import { PageHead } from "../components/layout.tsx";
import { ServerText } from "../components/server-text.tsx";
import { definePage, useQuery } from "../page.tsx";

/** The operations of the API, which a search narrows, or one of them. */
function Reference() {
  const [query] = useQuery();
  const [text, setText] = useState(query.get("q") ?? "");
  return (
    <>
      <PageHead title="API reference" />
      <form class="search-form" role="search" action={href("/docs")}>
        <TextField
          label="Search operations"
          hideLabel
          name="q"
          type="search"
          placeholder="Method, path or words, such as post notes"
          value={text}
          onInput={setText}
        />
        <Button type="submit" icon="search">
          Search
        </Button>
      </form>
      <ServerText />
    </>
  );
}

/** The server finds out which operation an address means. */
export const referencePage = definePage({
  name: "reference",
  paths: [],
  title: "API reference",
  View: Reference,
});
