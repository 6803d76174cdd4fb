import { type Loadable, useLoaded } from "../components/loaded.tsx";
import type { TypedResponse } from "../request.ts";
import type { Declaration } from "./declaration.ts";
import type { Row } from "./record.tsx";
import { write } from "./write-record.ts";

export interface SubResourceProps {
  of: Declaration;
  row: Row;
  /** A sub-resource of the record was written. */
  onChanged: () => void;
}

/** The notes, files, annotations or permissions of a record, and their writes. */
interface SubResource<T> {
  loaded: Loadable<T>;
  reload: () => void;
  /** Writes one of them; `put` puts the answer into the loaded value, without it all is loaded again. */
  change: <Answer>(
    request: () => Promise<TypedResponse<Answer>>,
    done: string,
    put?: (value: T, answer: Answer) => T,
  ) => Promise<void>;
}

/** @param key identifies what `load` loads */
export function useSubResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  onChanged: () => void,
): SubResource<T> {
  const loaded = useLoaded(key, load);
  const reload = (): void => {
    loaded.reload();
    onChanged();
  };
  return {
    loaded,
    reload,
    change: (request, done, put) => {
      if (!put) return write(request, done, reload);
      return write(request, done, reload, async (response) => {
        const answer = await response.json();
        loaded.update((value) => put(value, answer));
        onChanged();
      });
    },
  };
}
