export { renderJsonPage, renderMissingPage, renderReferencePage, webRoutes } from "./route.ts";
