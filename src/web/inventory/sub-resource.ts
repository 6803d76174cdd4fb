import { type Loadable, useLoaded } from "../components/loaded.tsx";
import { send } from "../request.ts";
import type { Declaration } from "./declaration.ts";
import type { Row } from "./record.tsx";
import { write } from "./write-record.ts";

export interface SubResourceProps {
  of: Declaration;
  row: Row;
  /** A sub-resource of the record was written. */
  onChanged: () => void;
}

/** The notes, files, annotations or permissions of a record at `path`, and their writes. */
interface SubResource<T> {
  loaded: Loadable<T>;
  reload: () => void;
  /** Writes below `path`; `put` puts the answer into the loaded value, without it all is loaded again. */
  change: <Answer>(
    method: string,
    rest: string,
    done: string,
    body?: object,
    put?: (value: T, answer: Answer) => T,
  ) => Promise<void>;
}

export function useSubResource<T>(
  path: string,
  onChanged: () => void,
  query: Record<string, string | undefined> = {},
): SubResource<T> {
  const loaded = useLoaded(
    `${path} ${JSON.stringify(query)}`,
    async (signal) => (await send("GET", path, { query, signal })).json() as Promise<T>,
  );
  const reload = (): void => {
    loaded.reload();
    onChanged();
  };
  return {
    loaded,
    reload,
    change: (method, rest, done, body, put) =>
      write(
        () => send(method, path + rest, { query, body }),
        done,
        reload,
        put === undefined
          ? reload
          : async (response) => {
              const answer = await response.json();
              loaded.update((value) => put(value, answer));
              onChanged();
            },
      ),
  };
}
