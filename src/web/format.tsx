/** A time as the reader's own clock and language have it; a word where there is none. */
export function Time({ at, none = "never" }: { at: string | null; none?: string }) {
  if (at === null) return <span class="muted">{none}</span>;
  return (
    <time dateTime={at} title={at} class="nowrap">
      {new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}
    </time>
  );
}

/** Bytes for people: 1.5 GB. */
export function formatSize(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = bytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toPrecision(3)} ${units[power]}`;
}

/** Seconds for people: 3 d 4 h. */
export function formatDuration(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [Math.floor(seconds) % 60, "s"],
  ] as const;
  const from = parts.findIndex(([value]) => value > 0);
  if (from < 0) return "0 s";
  return parts
    .slice(from, from + 2)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(" ");
}

/** The browser and system that a User-Agent names, as far as people need it. */
export function browserName(agent: string): string {
  const browser =
    /Edg\//.exec(agent) !== null
      ? "Edge"
      : (/(Firefox|HeadlessChrome|Chrome|Safari)\//.exec(agent)?.[1] ?? agent.split(/[\s/]/)[0]);
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(agent)?.[1];
  return [browser || "Unknown browser", system].filter(Boolean).join(" on ");
}

export const formatCount = (value: number): string => value.toLocaleString("en");
