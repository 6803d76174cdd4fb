import { mount } from "../platform/mount.ts";
import { accountOperations } from "./account-routes.ts";
import { auditOperations } from "./audit-routes.ts";
import { makeGuards } from "./guards.ts";
import { identityOperations, type IdentityParts } from "./identity-routes.ts";
import { secondFactorOperations } from "./second-factor-routes.ts";

/** Routes of accounts, second factors, identities and the audit log. */
export function accountRoutes(dependencies: IdentityParts) {
  const guards = makeGuards(dependencies.accounts);
  const operations = [...accountOperations, ...secondFactorOperations, ...identityOperations];
  return [
    mount(auditOperations, { tag: "service", guards, dependencies }),
    mount(operations, { tag: "administration", guards, dependencies }),
  ];
}
