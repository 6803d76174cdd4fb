import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Card } from "../components/layout.tsx";
import { formatTime } from "../format.tsx";
import type { RecentJob } from "./job.ts";

/** The last jobs of this browser, which the server does not know; `path` is that of their pages. */
export function RecentJobs({ title, path, read }: { title: string; path: string; read: () => RecentJob[] }) {
  const [jobs, setJobs] = useState<RecentJob[]>([]);
  useEffect(() => setJobs(read()), []);
  if (jobs.length === 0) return null;
  return (
    <Card title={title} bare>
      <ul class="list">
        {jobs.map(({ id, title, time }) => (
          <li key={id}>
            <a href={href(`${path}/${id}`)}>{title}</a>
            <small class="end">{formatTime(time)}</small>
          </li>
        ))}
      </ul>
    </Card>
  );
}
