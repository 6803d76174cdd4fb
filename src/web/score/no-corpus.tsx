import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { get, ApiError } from "../request.ts";

/** Whether it is known that no corpus is in use. */
export function useNoCorpus(): boolean {
  const [missing, show] = useState(false);
  useEffect(() => {
    get("/api/scoring/corpus").catch((error: unknown) =>
      show(error instanceof ApiError && error.status === 404),
    );
  }, []);
  return missing;
}

/** Says beforehand that nothing can come of a question. */
export function NoCorpus() {
  if (!useNoCorpus()) return null;
  return (
    <p class="note warn">
      There is no corpus of proteins yet: no homologs are found, and nothing can be said about conservation.
      An administrator <a href={href("/administration/corpora")}>adds one</a>.
    </p>
  );
}
