/** Data that the pages keep on this device for work without a network, in IndexedDB: one value under each key. */
export interface DeviceStore {
  read<T>(key: string): Promise<T | undefined>;
  /** Replaces a value in one step; undefined removes it. @returns the new value */
  update<T>(key: string, change: (before: T | undefined) => T | undefined): Promise<T | undefined>;
  clear(): Promise<void>;
}

const VALUES = "values";

/** @param base path of the service, of which one server may have several */
export function openDeviceStore(base: string): DeviceStore {
  const opening = openDatabase(`labd${base}`);
  const run = async <T>(
    mode: IDBTransactionMode,
    work: (values: IDBObjectStore, done: (value: T) => void) => void,
  ): Promise<T> => {
    const database = await opening;
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(VALUES, mode);
      let result: T;
      work(transaction.objectStore(VALUES), (value) => (result = value));
      transaction.addEventListener("complete", () => resolve(result));
      // An error aborts it.
      transaction.addEventListener("abort", () => reject(transaction.error as Error));
    });
  };
  return {
    read: (key) =>
      run("readonly", (values, done) => {
        const request = values.get(key);
        request.addEventListener("success", () => done(request.result));
      }),
    update: (key, change) =>
      run("readwrite", (values, done) => {
        const request = values.get(key);
        request.addEventListener("success", () => {
          const after = change(request.result);
          if (after === undefined) values.delete(key);
          else values.put(after, key);
          done(after);
        });
      }),
    clear: () => run("readwrite", (values) => void values.clear()),
  };
}

const openDatabase = (name: string): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.addEventListener("upgradeneeded", () => void request.result.createObjectStore(VALUES));
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error as Error));
  });
