import { readPartWarning } from "../../motif/protein-text.ts";
import { Banner } from "../components/banner.tsx";
import { LinkButton } from "../components/button.tsx";

/** A warning about a query; a part of a protein leads to scoring the whole. @param address of the page that does so */
export function QueryWarning({ text, address }: { text: string; address: (accession: string) => string }) {
  const part = readPartWarning(text);
  return (
    <Banner tone="warn">
      {text}{" "}
      {part && (
        <LinkButton small href={address(part.accession)}>
          Score {part.accession}
        </LinkButton>
      )}
    </Banner>
  );
}
