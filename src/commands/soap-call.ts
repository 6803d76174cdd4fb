import { SaxesParser } from "saxes";
import { Problem } from "../problem.ts";

/** An element of a response, by local name. */
export interface Element {
  name: string;
  text: string;
  children: Element[];
}

/** The first element of this name at or below `element`. */
export function find(element: Element, name: string): Element | undefined {
  if (element.name === name) return element;
  for (const child of element.children) {
    const found = find(child, name);
    if (found) return found;
  }
  return undefined;
}

/** The children of this name. */
export const all = (element: Element, name: string): Element[] =>
  element.children.filter((child) => child.name === name);

/** Text of the first child of this name; empty if there is none. */
export const textOf = (element: Element, name: string): string => all(element, name)[0]?.text ?? "";

/** A SOAP 1.1 request; repeated values occur repeatedly. */
function envelope(namespace: string, operation: string, values: [name: string, value: string][]): string {
  const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const parts = values.map(([name, value]) => `      <${name}>${escape(value)}</${name}>`);
  return [
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">',
    "  <soap:Body>",
    `    <${operation} xmlns="${namespace}">`,
    ...parts,
    `    </${operation}>`,
    "  </soap:Body>",
    "</soap:Envelope>",
  ].join("\n");
}

/** Calls an operation over HTTP. @throws Problem internal for a fault */
export async function soapCall(
  endpoint: string,
  namespace: string,
  operation: string,
  values: [name: string, value: string][],
): Promise<Element> {
  const response = await fetch(endpoint, {
    method: "POST",
    headers: {
      "Content-Type": "text/xml; charset=utf-8",
      SOAPAction: `"${namespace}/ConservationScorer/${operation}"`,
    },
    body: envelope(namespace, operation, values),
  });
  const answer = read(await response.text());
  const fault = find(answer, "faultstring");
  if (fault)
    throw new Problem("internal", `${operation} returned a fault: ${fault.text}`, {
      cause: fault.text,
    });
  return answer;
}

function read(xml: string): Element {
  const root: Element = { name: "", text: "", children: [] };
  const open = [root];
  const parser = new SaxesParser({ xmlns: true });
  parser.on("opentag", ({ local }) => {
    const element: Element = { name: local, text: "", children: [] };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on("text", (text) => {
    const element = open.at(-1);
    if (element) element.text += text;
  });
  parser.on("closetag", () => open.pop());
  parser.on("error", (error) => {
    throw error;
  });
  parser.write(xml).close();
  return root;
}
