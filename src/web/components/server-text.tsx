import { pageContent } from "../address.ts";

/** HTML that the server wrote and scripts leave as it is: help, the reference of the API, and its JSON. */
export const ServerText = () => <div class="prose" dangerouslySetInnerHTML={{ __html: pageContent() }} />;
