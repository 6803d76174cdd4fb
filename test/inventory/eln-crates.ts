import { zipFile } from "../../src/platform/zip-file.ts";

/** Archives as eLabFTW writes them, with contents of our own. */

type Node = Record<string, unknown>;

export const CONTEXT = "https://w3id.org/ro/crate/1.1/context";
const ref = (id: string): Node => ({ "@id": id });
const refs = (...ids: string[]): Node[] => ids.map(ref);

/** A ZIP archive of files by name. */
export const makeZip = (files: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> => {
  const entries = Object.entries(files).map(([name, text]) => ({
    name,
    bytes: new TextEncoder().encode(text),
  }));
  return new Uint8Array(Buffer.concat([...zipFile(entries, new Date(0))]));
};

/** An archive with a graph, and files below its folder. The descriptor is there unless the graph has one. */
export function crate(
  graph: readonly Node[],
  files: Readonly<Record<string, string>> = {},
  {
    folder = "export",
    context = CONTEXT as unknown,
    publisher = { "@type": "Organization", name: "eLabFTW" } as unknown,
  } = {},
): Uint8Array<ArrayBuffer> {
  const descriptor = {
    "@id": "ro-crate-metadata.json",
    "@type": "CreativeWork",
    about: ref("./"),
    conformsTo: ref("https://w3id.org/ro/crate/1.1"),
    sdPublisher: publisher,
  };
  const document = JSON.stringify({ "@context": context, "@graph": [descriptor, ...graph] });
  const all = { ...files, "ro-crate-metadata.json": document };
  return makeZip(Object.fromEntries(Object.entries(all).map(([path, text]) => [`${folder}/${path}`, text])));
}

/** The entity of a file, with its checksum. */
export const fileNode = (path: string, text: string, more: Node = {}): Node => ({
  "@id": `./${path}`,
  "@type": "File",
  sha256: new Bun.CryptoHasher("sha256").update(text).digest("hex"),
  contentSize: String(text.length),
  ...more,
});

/** The root, a dataset and other entities: the least that is imported. */
export const oneDataset = (dataset: Node, ...others: Node[]): Node[] => [
  { "@id": "./", "@type": "Dataset", hasPart: refs("./a/") },
  { "@id": "./a/", "@type": "Dataset", name: "A", ...dataset },
  ...others,
];

const EXTRA_FIELDS = [
  { "@type": "PropertyValue", propertyID: "host", valueReference: "select", value: "Rabbit" },
  {
    "@type": "PropertyValue",
    propertyID: "Strength",
    valueReference: "number",
    value: "0.5",
    unitText: "mg/ml",
  },
];

/** eLabFTW: HTML, comments, extra fields inline, steps, links to datasets with web addresses, the publisher inline. */
export function elabftw(): Uint8Array<ArrayBuffer> {
  const [json, gel] = ['[{"elabid":"x"}]', "GEL"];
  const person = {
    "@id": "person://ab?hash_algo=sha256",
    "@type": "Person",
    givenName: "Toto",
    familyName: "Le Sysadmin",
  };
  const graph = [
    {
      "@id": "https://elab.test/database.php?id=51",
      "@type": "Dataset",
      name: "Plasmid - pRSF",
      identifier: "2023-ec",
    },
    fileNode("Antibody - Anti-CD3ε - 955880c1/export-elabftw.json", json, {
      name: "export-elabftw.json",
      encodingFormat: "application/json",
      description: "JSON export",
    }),
    fileNode("Antibody - Anti-CD3ε - 955880c1/gel 1.png", gel, {
      name: "gel 1.png",
      description: "",
      alternateName: "6b/6b.png",
      contentSize: 3,
    }),
    {
      "@id": "comment://2023-09-28T03%3A44%3A54%2B02%3A00",
      "@type": "Comment",
      dateCreated: "2023-09-28T03:44:54+02:00",
      text: "It&#39;s the <b>good</b> lot.",
      author: ref(person["@id"]),
    },
    {
      "@id": "./Antibody - Anti-CD3ε - 955880c1",
      "@type": "Dataset",
      author: ref(person["@id"]),
      dateCreated: "2023-09-28T03:45:02+02:00",
      dateModified: "2023-10-02T14:51:49+02:00",
      identifier: "20230928-955880c1",
      name: "Anti-CD3ε",
      encodingFormat: "text/html",
      text: "<h1>Use</h1>\n<p>Dilute 1:500 &amp; keep at 4&nbsp;°C.</p><ul><li>blot</li><li>FACS</li></ul>",
      url: "https://elab.test/database.php?mode=view&id=167",
      genre: "resource",
      creativeWorkStatus: "In stock",
      keywords: ["antibody", "T cell"],
      comment: refs("comment://2023-09-28T03%3A44%3A54%2B02%3A00"),
      mentions: refs("https://elab.test/database.php?id=51"),
      hasPart: refs(
        "./Antibody - Anti-CD3ε - 955880c1/export-elabftw.json",
        "./Antibody - Anti-CD3ε - 955880c1/gel 1.png",
      ),
      variableMeasured: EXTRA_FIELDS,
      step: [
        {
          "@type": "HowToStep",
          position: 1,
          creativeWorkStatus: "finished",
          itemListElement: [{ "@type": "HowToDirection", text: "Titrate" }],
        },
      ],
    },
    { "@id": "./", "@type": ["Dataset"], hasPart: refs("./Antibody - Anti-CD3ε - 955880c1") },
    person,
  ];
  const folder = "Antibody - Anti-CD3ε - 955880c1";
  const publisher = { "@type": "Organization", name: "eLabFTW", url: "https://www.elabftw.net" };
  return crate(
    graph,
    { [`${folder}/export-elabftw.json`]: json, [`${folder}/gel 1.png`]: gel },
    { folder: "2023-10-02-export", publisher },
  );
}

/** Two records of eLabFTW, of which the first names the second. */
export const linkedRecords = (): Uint8Array<ArrayBuffer> =>
  crate([
    { "@id": "./", "@type": ["Dataset"], hasPart: refs("./Measurement", "./OMBE-1") },
    { "@id": "./Measurement", "@type": "Dataset", name: "Measurement", mentions: refs("./OMBE-1") },
    { "@id": "./OMBE-1", "@type": "Dataset", name: "OMBE-1" },
  ]);
