export { pageForMissing, webRoutes } from "./route.ts";
