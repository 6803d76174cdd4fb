/** SOAP messages for tests. */

export const NAMESPACE = "http://labd.example/conservation-scorer";

/** The E7 protein of a papillomavirus (P03129), whose LxCxE binds the retinoblastoma protein. */
export const E7 =
  "MHGDTPTLHEYMLDLQPETTDLYCYEQLNDSSEEEDEIDGPAGQAEPDRAHYNIVTFCCKCDSTLRLCVQSTHVDIRTLEDLLMGTLGIVCPICSQKP";

/** A SOAP 1.1 envelope around the content of its body. */
export const inEnvelope = (body: string): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${body}</s:Body></s:Envelope>`;

export interface RunJob {
  sequence: string;
  patterns?: string[];
  names?: string[];
  model?: string;
}

export function runJobMessage({ sequence, patterns = [], names = [], model = "continuous" }: RunJob): string {
  const list = (name: string, values: string[]): string =>
    values.map((value) => `<${name}>${value}</${name}>`).join("");
  return inEnvelope(
    `<RunJob xmlns="${NAMESPACE}"><identifier>test</identifier><querySequence>${sequence}</querySequence><scoringModel>${model}</scoringModel>${list("regularExpression", patterns)}${list("elmIdentifierName", names)}</RunJob>`,
  );
}

/** Text of the first element of this local name. */
export const element = (xml: string, name: string): string | undefined =>
  xml.match(new RegExp(`<(?:\\w+:)?${name}(?:\\s[^>]*)?>([^<]*)<`))?.[1];
