import { CLASS_TYPES } from "../../scoring/table/match-values.ts";
import { href } from "../address.ts";
import { capitalized } from "../format.tsx";
import { type Answer } from "../request.ts";

/** A motif class in a list. */
export type MotifClass = Answer<"GET /api/scoring/motif-classes">["results"][number];

export const classHref = (name: string): string => href(`/classes/${encodeURIComponent(name)}`);

/** A pattern, or a motif class with a link to its page. */
export const MotifLink = ({
  of: { name, expression },
}: {
  of: { name: string | null; expression: string };
}) => (name === null ? <code>{expression}</code> : <a href={classHref(name)}>{name}</a>);

/** The name for people; several classes may share it. */
export const classTitle = ({ title, name }: Pick<MotifClass, "title" | "name">): string => title || name;

/** The type in words, such as "Docking site". */
export const classType = ({ type }: Pick<MotifClass, "type">): string =>
  type === null ? "" : capitalized(CLASS_TYPES[type as keyof typeof CLASS_TYPES]);

/** Classes with their patterns, and links to their pages. */
export const ClassList = ({ of }: { of: readonly Pick<MotifClass, "name" | "title" | "expression">[] }) => (
  <ul class="list found">
    {of.map((one) => (
      <li key={one.name}>
        <a href={classHref(one.name)}>{classTitle(one)}</a>
        <small>
          {one.title !== "" && `${one.name} `}
          <code>{one.expression}</code>
        </small>
      </li>
    ))}
  </ul>
);
