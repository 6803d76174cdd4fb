import { prose, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";
import { modelType, sameAsModelType } from "./model-type.ts";

export const protocol = ownedResource({
  name: "protocol",
  segment: "protocols/protocols",
  forClients: true,
  model: "protocols.protocol",
  summary: "Laboratory protocols.",
  table: "protocol",
  fields: {
    name: nameField("Name of the protocol.", { example: "Tn5 library preparation" }),
    description: prose("The steps of the protocol."),
    summary: text("The protocol in a sentence."),
    model_type: modelType("Kind of protocol, such as LIBRARY_PREPARATION, EXTRACTION or FIXATION."),
    type: { ...sameAsModelType(), shown: "always" },
  },
});
