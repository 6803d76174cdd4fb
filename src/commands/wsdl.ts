import { ENDPOINT } from "../scoring/index.ts";
import type { Command } from "./command.ts";

export const wsdl: Command = {
  name: "wsdl",
  summary: "Print the WSDL of the SOAP service, as ?wsdl serves it.",
  settings: ["soap_namespace", "public_url", "host", "port"],
  example: "labd wsdl --public-url https://lab.example > ConservationScorer.wsdl",
  async run(call) {
    const { config } = call.configuration();
    const base = config.public_url || `http://${config.host}:${config.port}`;
    const { wsdl: wsdlDocument } = await import("../scoring/contract/wsdl.ts");
    return call.print(wsdlDocument(config.soap_namespace, `${base}${ENDPOINT}`));
  },
};
