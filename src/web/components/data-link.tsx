import { href } from "../address.ts";

/** Leads to the chapter on the files to import, for places where data are missing. */
export const DataLink = () => <a href={href("/help/biologist#get-the-data")}>Get the data</a>;
