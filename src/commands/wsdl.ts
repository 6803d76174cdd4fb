import type { Command } from "./command-line.ts";
import { wsdl as wsdlDocument } from "../scoring/contract/wsdl.ts";
import { ENDPOINT } from "../scoring/index.ts";

export const wsdl: Command = {
  name: "wsdl",
  summary: "Print the WSDL of the SOAP face, as ?wsdl serves it.",
  flags: [],
  settings: ["soap_namespace", "public_url", "base_path", "host", "port"],
  example: "labd wsdl --public-url https://lab.example > ConservationScorer.wsdl",
  async run(call) {
    const { config } = call.configuration();
    const base = config.public_url || `http://${config.host}:${config.port}`;
    process.stdout.write(wsdlDocument(config.soap_namespace, `${base}${config.base_path}${ENDPOINT}`));
    return 0;
  },
};
