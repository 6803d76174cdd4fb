import { href } from "../address.ts";
import { Banner } from "../components/banner.tsx";
import { pluralize } from "../format.tsx";
import { useQueue } from "./use-queue.ts";

/** Banner above a page if changes wait or were rejected, or if the server does not respond. */
export function OfflineStatus() {
  const { changes, isOnline, isOffered } = useQueue();
  if (!isOffered || (isOnline && changes.length === 0)) return null;
  const conflicts = changes.filter(({ conflict }) => conflict).length;
  const waiting = changes.length - conflicts;
  const parts = [
    !isOnline && "Offline",
    waiting > 0 && `${pluralize(waiting, "change")} waiting to be sent`,
    conflicts > 0 && pluralize(conflicts, "conflict"),
  ];
  return (
    <Banner tone={conflicts > 0 ? "danger" : "warn"} role="status">
      {parts.filter(Boolean).join(", ")}. <a href={href("/inventory/offline")}>Details</a>
    </Banner>
  );
}
