import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { PageHead } from "../components/layout.tsx";
import { ServerText } from "../components/server-text.tsx";
import { definePage, usePath, useQuery } from "../page.tsx";

/** JSON of an API with links. The addresses are those of the API. */
function Api() {
  const path = usePath();
  const [query] = useQuery();
  const search = new URLSearchParams(query);
  search.set("format", "json");
  return (
    <>
      <PageHead
        title={path}
        actions={
          <>
            <LinkButton href={`${href(path)}?${search}`}>JSON</LinkButton>
            <LinkButton href={href("/docs")}>API reference</LinkButton>
          </>
        }
      />
      <ServerText />
    </>
  );
}

export const apiPage = definePage({ name: "api", paths: [], title: "API", View: Api });
