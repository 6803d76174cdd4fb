/** The Python wheel: the sources in `python/`, and record types and columns from the description of the API. */
import { join } from "node:path";
import { type ZipEntry, zipFile } from "../../src/platform/zip-file.ts";
import {
  type ApiModel,
  type Field,
  type FieldType,
  listFiles,
  type RecordType,
  RELEASED,
  shownFields,
  toEntry,
} from "./api-model.ts";

const SOURCES = join(import.meta.dir, "python");

/** Version of a wheel (PEP 440), which is that of the server: `0.2.0`, `0.2.0+12.g1a2b3c4d`. */
export function makeWheel(model: ApiModel): ZipEntry {
  const { version } = model;
  const information = `labd-${version}.dist-info`;
  const entries: ZipEntry[] = [
    ...listFiles(SOURCES),
    toEntry("labd/py.typed", ""),
    toEntry("labd/_columns.py", columnsModule(model)),
    toEntry("labd/_types.py", typesModule(model)),
    toEntry("labd/_types.pyi", typesStub(model)),
    toEntry(`${information}/METADATA`, metadata(version)),
    toEntry(
      `${information}/WHEEL`,
      "Wheel-Version: 1.0\nGenerator: labd\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    ),
  ].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const lines = entries.map(({ name, bytes }) => `${name},sha256=${digest(bytes)},${bytes.length}\n`);
  const record = toEntry(`${information}/RECORD`, `${lines.join("")}${information}/RECORD,,\n`);
  return {
    name: `labd-${version}-py3-none-any.whl`,
    bytes: Buffer.concat([...zipFile([...entries, record], RELEASED)]),
  };
}

/** As wheels name it: base64 for addresses, without padding. */
const digest = (bytes: Uint8Array): string =>
  new Bun.CryptoHasher("sha256").update(bytes).digest("base64url");

const metadata = (version: string): string => `Metadata-Version: 2.1
Name: labd
Version: ${version}
Summary: Client of a labd server: conservation of motifs in proteins, and the inventory of a laboratory
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: requests>=2.25
Provides-Extra: pandas
Requires-Dist: pandas>=1.3; extra == "pandas"
Description-Content-Type: text/markdown

Client of a [labd](/help/clients) server, for this version of it. \`help(labd)\` describes it.
`;

const TYPES: Readonly<Record<FieldType, string>> = {
  text: "str",
  number: "float",
  integer: "int",
  boolean: "bool",
  date: "day",
  time: "time (UTC)",
  reference: "id or name of a record",
  object: "JSON",
};

const STUB_TYPES: Readonly<Record<FieldType, string>> = {
  text: "_Text",
  number: "_Number",
  integer: "_Number",
  boolean: "bool",
  date: "_Day",
  time: "_Day",
  reference: "_Reference",
  object: "Any",
};

const className = ({ name }: RecordType): string => `${name[0].toUpperCase()}${name.slice(1)}`;

const python = (value: unknown): string => JSON.stringify(value);
const sentence = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll('"""', "'''").replaceAll(/\s+/g, " ").trim();

function describeField({ name, type, description, choices, isWritable, isRequired }: Field): string {
  const kind = choices.length > 0 ? `one of ${choices.join(", ")}` : TYPES[type];
  const use = isRequired ? ", required to create" : isWritable ? "" : ", read-only";
  return `    ${name} : ${kind}${use}\n        ${sentence(description)}\n`;
}

function recordClass(type: RecordType): string {
  const { fields, parameters, path, one, isRepeatable, description } = type;
  return `

class ${className(type)}(Records):
    """${sentence(description)}

    Call it with filters to get a table; \`Records\` describes filters and lookups.

    Fields
    ------
${fields.map(describeField).join("")}
    Parameters of the list
    ----------------------
${parameters.map(({ name, description }) => `    ${name}\n        ${sentence(description)}\n`).join("")}    """

    path = ${python(path)}
    one = ${python(one)}
    types = {${fields.map(({ name, type }) => `${python(name)}: ${python(type)}`).join(", ")}}
    shown = (${shownFields(type).map(python).join(", ")},)
    is_repeatable = ${isRepeatable ? "True" : "False"}
`;
}

function columnsModule({ version, columns }: ApiModel): string {
  const tables = Object.entries(columns).map(([name, listed]) => {
    const lines = listed.map(({ name, type, description, unit }) => {
      const kind = type === "count" ? "integer" : type;
      return `        ${python(name)}: (${python(kind)}, ${python(description + (unit ? ` In ${unit}.` : ""))}),\n`;
    });
    return `    ${python(name)}: {\n${lines.join("")}    },\n`;
  });
  return `"""Version, and columns of tables of matches. Generated from the server."""

VERSION = ${python(version)}

#: Kind and description of each column, by table.
MATCH_COLUMNS = {
${tables.join("")}}
`;
}

function typesModule({ recordTypes }: ApiModel): string {
  return `"""Record types of this version. Generated from the description of the API."""

from __future__ import annotations

from typing import Optional

from ._http import Http
from ._records import Records
${recordTypes.map(recordClass).join("")}

class RecordTypes:
    """Lists of records: ${recordTypes.map(({ name }) => `\`${name}\``).join(", ")}."""

    def __init__(self, http: Http, progress: Optional[bool] = None):
${recordTypes.map((type) => `        self.${type.name} = ${className(type)}(http, progress)\n`).join("")}`;
}

/** Types for editors and type checkers. */
function typesStub({ recordTypes }: ApiModel): string {
  return `import datetime
from typing import Any, Dict, Iterator, List, Literal, Mapping, Optional, Sequence, Union

from pandas import DataFrame

from ._http import Http
from ._records import Records

_Text = Union[str, Sequence[str], None]
_Number = Union[float, Sequence[float], None]
_Day = Union[str, datetime.date, datetime.datetime, datetime.timedelta, None]
_Reference = Union[str, Mapping[str, Any], Sequence[str], None]
${recordTypes.map(stubClass).join("")}
class RecordTypes:
${recordTypes.map((type) => `    ${type.name}: ${className(type)}\n`).join("")}    def __init__(self, http: Http, progress: Optional[bool] = ...) -> None: ...
`;
}

/** A text would be a sequence of texts, so that several values are a list. */
function literal(choices: readonly string[]): string {
  const one = `Literal[${choices.map(python).join(", ")}]`;
  return `Union[${one}, List[${one}], None]`;
}

function stubClass(type: RecordType): string {
  const filters = type.fields.filter(({ isFilter }) => isFilter);
  const argument = ({ name, type: kind, choices }: Field): string =>
    `${name}: ${choices.length > 0 ? literal(choices) : STUB_TYPES[kind]} = ...`;
  const written = type.fields.filter(({ isWritable }) => isWritable);
  const listed = [
    "limit: Optional[int] = ...",
    "fields: Union[str, Sequence[str], None] = ...",
    "ordering: Union[str, Sequence[str]] = ...",
    ...type.parameters
      .filter(({ name }) => !["fields", "ordering"].includes(name))
      .map(({ name }) => `${name}: Any = ...`),
    ...filters.map(argument),
    "**lookups: Any",
  ];
  const values = ["dry_run: bool = ...", ...written.map(argument), "**values: Any"].join(", ");
  return `
class ${className(type)}(Records):
    def __call__(self, *, ${listed.join(", ")}) -> DataFrame: ...
    def iterate(self, *, ${listed.join(", ")}) -> Iterator[Dict[str, Any]]: ...
    def create(self, *records: Mapping[str, Any], ${values}) -> Any: ...
    def update(self, record: Any, *, version: Optional[int] = ..., ${values}) -> Dict[str, Any]: ...
`;
}
