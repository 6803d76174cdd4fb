import { zipFile } from "../../src/platform/zip-file.ts";

/** Archives in the shapes in which notebooks write them, with contents of our own. */

type Node = Record<string, unknown>;

export const CONTEXT = "https://w3id.org/ro/crate/1.1/context";
const ref = (id: string): Node => ({ "@id": id });
const refs = (...ids: string[]): Node[] => ids.map(ref);

/** A ZIP archive of files by name. */
export const zipOf = (files: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> => {
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
  { folder = "export", context = CONTEXT as unknown, publisher = ref("#me") as unknown } = {},
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
  return zipOf(Object.fromEntries(Object.entries(all).map(([path, text]) => [`${folder}/${path}`, text])));
}

/** The entity of a file, with its checksum. */
export const fileNode = (path: string, text: string, more: Node = {}): Node => ({
  "@id": `./${path}`,
  "@type": "File",
  sha256: new Bun.CryptoHasher("sha256").update(text).digest("hex"),
  contentSize: String(text.length),
  ...more,
});

/** The root, a dataset and whatever else: the least that is imported. */
export const oneDataset = (dataset: Node, ...others: Node[]): Node[] => [
  { "@id": "./", "@type": "Dataset", hasPart: refs("./a/") },
  { "@id": "./a/", "@type": "Dataset", name: "A", ...dataset },
  ...others,
];

const EXTRA_FIELDS = [
  { "@type": "PropertyValue", propertyID: "host", valueReference: "select", value: "Rabbit" },
  {
    "@type": "PropertyValue",
    propertyID: "Concentration",
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

/** SampleDB: versions as datasets within objects, properties that name objects or have units, numbers as sizes. */
export function sampledb(): Uint8Array<ArrayBuffer> {
  const [data, raw] = ['{"name":{}}', "1,2\n"];
  const measured = [
    { "@type": "PropertyValue", propertyID: "name", name: "Sample Name", value: "OMBE-1" },
    { "@type": "PropertyValue", propertyID: "checked", name: "Checked", value: false },
    {
      "@type": "PropertyValue",
      propertyID: "films/0/thickness",
      name: "Films → 0 → Thickness",
      value: 5,
      unitText: "Å",
      unitCode: "A11",
    },
  ];
  const object = (id: number, more: Node): Node => ({
    "@id": `./objects/${id}`,
    "@type": "Dataset",
    identifier: String(id),
    description: `Object #${id}`,
    author: refs("./users/2"),
    creator: ref("./users/2"),
    dateCreated: "2024-08-20T07:46:40.184975",
    url: `http://sampledb.test/objects/${id}`,
    comment: [],
    ...more,
  });
  const graph = [
    { "@id": "./", "@type": ["Dataset"], hasPart: refs("./objects/7", "./objects/1") },
    { "@id": "SampleDB", "@type": "Organization", name: "SampleDB", url: "https://sampledb.test" },
    { "@id": "./users/2", "@type": "Person", name: "Basic User" },
    object(7, {
      name: "Measurement",
      genre: "measurement",
      mentions: refs("./objects/1"),
      keywords: "tag1, tag2",
      variableMeasured: [
        { "@type": "PropertyValue", propertyID: "name", name: "Object Name", value: "Measurement" },
        { "@type": "PropertyValue", propertyID: "sample", name: "Sample", value: "./objects/1" },
      ],
      hasPart: refs("./objects/7/version/0", "./objects/7/files/0/raw.csv"),
    }),
    object(1, { name: "OMBE-1", genre: "sample", variableMeasured: measured, hasPart: [] }),
    {
      "@id": "./objects/7/version/0",
      "@type": "Dataset",
      name: "Measurement",
      description: "Object #7 version #0",
      variableMeasured: [
        { "@type": "PropertyValue", propertyID: "sample", name: "Sample", value: "./objects/1" },
        { "@type": "PropertyValue", propertyID: "purity", name: "Purity", value: 9 },
      ],
      hasPart: refs("./objects/7/version/0/data.json"),
    },
    fileNode("objects/7/version/0/data.json", data, {
      name: "data.json",
      contentSize: data.length,
      encodingFormat: "application/json",
    }),
    fileNode("objects/7/files/0/raw.csv", raw, {
      name: "raw.csv",
      contentSize: raw.length,
      encodingFormat: "text/csv",
    }),
  ];
  return crate(
    graph,
    { "objects/7/version/0/data.json": data, "objects/7/files/0/raw.csv": raw },
    { folder: "sampledb_export", publisher: ref("SampleDB") },
  );
}

/** RSpace: datasets without names or descriptions, shared resources, links as datasets within, odd dates. */
export function rspace(): Uint8Array<ArrayBuffer> {
  const [form, doc, schema] = ["<form/>", "<doc/>", "<xsd/>"];
  const graph = [
    {
      "@id": "./",
      "@type": "Dataset",
      name: "user user_2023-12-07",
      description: "",
      datePublished: "2023-12-07",
      hasPart: refs("./resources", "./schemas/formSchema.xsd", "./doc_Experiment-1-25", "./doc_Other-7"),
    },
    fileNode("schemas/formSchema.xsd", schema, { description: "schema for RSpace forms" }),
    { "@id": "./resources", "@type": "Dataset", description: "Common resources shared among exported data" },
    fileNode("doc_Experiment-1-25/form.xml", form, {
      dateCreated: "05:12:23:11:26:11",
      description: "A Form",
      contentSize: undefined,
    }),
    fileNode("doc_Experiment-1-25/doc.xml", doc, { description: "An RSpace Structured Document" }),
    {
      "@id": "./doc_Experiment-1-25/doc_Other-7",
      "@type": "Dataset",
      identifier: "./doc_Other-7",
      description: "A file linked by an exported document",
    },
    fileNode("doc_Other-7/other.xml", doc, { contentSize: undefined }),
    { "@id": "./doc_Other-7", "@type": "Dataset", keywords: "", hasPart: refs("./doc_Other-7/other.xml") },
    {
      "@id": "./doc_Experiment-1-25",
      "@type": "Dataset",
      keywords: "'exampleTag'",
      hasPart: refs(
        "./doc_Experiment-1-25/form.xml",
        "./doc_Experiment-1-25/doc.xml",
        "./doc_Experiment-1-25/doc_Other-7",
      ),
    },
    { "@id": "#RSpace", "@type": "Organization", name: "RSpace", url: "https://www.researchspace.com/" },
  ];
  const files = {
    "doc_Experiment-1-25/form.xml": form,
    "doc_Experiment-1-25/doc.xml": doc,
    "doc_Other-7/other.xml": doc,
    "schemas/formSchema.xsd": schema,
  };
  return crate(graph, files, { folder: "RSpace-2023-12-07-xml", publisher: ref("#RSpace") });
}

/** Kadi4Mat: records with files in a folder, without checksums, licences and people by ORCID. */
export function kadi4mat(): Uint8Array<ArrayBuffer> {
  const [json, text] = ["{}", "93 bytes"];
  const author = ref("https://orcid.org/0000-0002-3495-9100");
  const graph = [
    { "@id": "./", "@type": ["Dataset"], hasPart: refs("./records-example/") },
    {
      "@id": "https://kadi.iam.kit.edu",
      "@type": "Organization",
      name: "Kadi4Mat",
      url: "https://kadi.iam.kit.edu",
    },
    { "@id": author["@id"], "@type": "Person", name: "Manideep J" },
    {
      "@id": "./records-example/",
      "@type": "Dataset",
      author,
      name: "Records example",
      text: "",
      identifier: "records-example",
      keywords: "characterization, experiment",
      hasPart: refs("./records-example/records-example.json", "./records-example/files/example.txt"),
    },
    fileNode("records-example/records-example.json", json, {
      name: "records-example.json",
      sha256: undefined,
    }),
    fileNode("records-example/files/example.txt", text, {
      name: "example.txt",
      sha256: undefined,
      text: "A sample file.",
      author,
    }),
  ];
  const files = { "records-example/records-example.json": json, "records-example/files/example.txt": text };
  return crate(graph, files, { folder: "records-example", publisher: ref("https://kadi.iam.kit.edu") });
}

/** PASTA: folders within folders, properties of files as entities, remote files, more than one context. */
export function pasta(): Uint8Array<ArrayBuffer> {
  const png = "PNG";
  const graph = [
    { "@id": "PASTA-ELN", "@type": "Organization", name: "PASTA ELN", url: "https://github.com/PASTA-ELN/" },
    { "@id": "./", "@type": "Dataset", name: "Exported", hasPart: refs("./Project/") },
    {
      "@id": "./Project/",
      "@type": "Dataset",
      name: "Project",
      encodingFormat: "text/markdown",
      description: "# Aim\nSee *all*.",
      hasPart: refs("./Project/000_Task/"),
    },
    {
      "@id": "./Project/000_Task/",
      "@type": "Dataset",
      name: "Task",
      description: "This is hard!",
      keywords: "TODO",
      hasPart: refs("./Project/000_Task/simple.png", "https:/upload.test/pollen.jpg"),
    },
    fileNode("Project/000_Task/simple.png", png, {
      name: "simple.png",
      encodingFormat: "text/markdown",
      variableMeasured: refs("./Project/000_Task/simple.png_height"),
    }),
    {
      "@id": "./Project/000_Task/simple.png_height",
      "@type": "PropertyValue",
      propertyID: "metaUser.imageHeight",
      name: "Image height",
      value: "600+/- 3",
      unitText: "mm",
    },
    {
      "@id": "https:/upload.test/pollen.jpg",
      "@type": "File",
      name: "https://upload.test/pollen.jpg",
      contentSize: "33597",
      sha256: "00",
    },
  ];
  const context = [CONTEXT, { sha256: "https://the.elnconsortium.org/specification/#sha256" }];
  return crate(
    graph,
    { "Project/000_Task/simple.png": png },
    { folder: "PASTA", context, publisher: ref("PASTA-ELN") },
  );
}
