import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { PageHead } from "../components/layout.tsx";
import { ServerText } from "../components/server-text.tsx";
import { definePage } from "../page.tsx";

/** The clients of this version. The server knows its address, and writes the commands. */
const Clients = () => (
  <>
    <PageHead
      title="Clients"
      actions={
        <>
          <LinkButton href={href("/help/clients")}>Examples</LinkButton>
          <LinkButton href={href("/docs")}>API reference</LinkButton>
        </>
      }
    />
    <ServerText />
  </>
);

export const clientsPage = definePage({ name: "clients", paths: [], title: "Clients", View: Clients });
