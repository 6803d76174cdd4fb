export { webRoutes } from "./route.ts";
