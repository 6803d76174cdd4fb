export { pageForJson, pageForMissing, pageForReference, webRoutes } from "./route.ts";
