export {
  renderClientsPage,
  renderJsonPage,
  renderMissingPage,
  renderReferencePage,
  webRoutes,
} from "./route.ts";
