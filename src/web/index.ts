export { HELP_TOPICS } from "./help-topics.ts";
export {
  readHelp,
  renderClientsPage,
  renderJsonPage,
  renderMissingPage,
  renderReferencePage,
  webRoutes,
} from "./route.ts";
