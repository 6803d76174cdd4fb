import { pageContent } from "../address.ts";

/** HTML from the server that scripts do not change: help, the reference of the API, and its JSON. */
export const ServerText = () => <div class="prose" dangerouslySetInnerHTML={{ __html: pageContent() }} />;
