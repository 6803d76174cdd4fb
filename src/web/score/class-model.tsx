import { ErrorBanner } from "../components/banner.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { pluralize } from "../format.tsx";
import { type Answer, call } from "../request.ts";
import { LogoLetters } from "./alignment-head.tsx";
import { TERMS } from "./explain-match.ts";
import { makeLogo } from "./sequence-logo.ts";

/** A model of a motif class. */
export type ClassModel = Answer<"GET /api/scoring/motif-classes/:name/model">;

/** Residues on each side of the motif in windows of a model. */
const FLANK = 6;
const [COLUMN, HEIGHT] = [14, 50];
/** Change of a weight from which on it is worth a word. */
const CHANGED = 0.15;

const auc = (value: number): string => value.toFixed(2);

/** `12 instances; on families that were held out, AUC .79 -> .84 (gain -.01 to .09)` in a sentence. */
export const describeModel = ({ instances, gain }: Pick<ClassModel, "instances" | "gain">): string =>
  `Learned from ${pluralize(instances, "known instance")}. Among random matches, those of protein families that were held out rank better: AUC ${auc(gain.with)} instead of ${auc(gain.without)} (gain ${auc(gain.low)} to ${auc(gain.high)}).`;

/** Profile, instances, gain and weights of a class model, loaded by the class's name or the model's hash. */
export function ClassModelView({ name }: { name: string }) {
  const loaded = useLoaded(name, (signal) =>
    call("GET /api/scoring/motif-classes/:name/model", { params: { name }, signal }),
  );
  return (
    <>
      {loaded.error !== undefined && <ErrorBanner error={loaded.error} retry={loaded.reload} />}
      {loaded.value && <ModelFacts model={loaded.value} />}
    </>
  );
}

export const ModelFacts = ({ model }: { model: ClassModel }) => (
  <>
    <p class="hint">{describeModel(model)}</p>
    <ProfileLogo windows={model.windows} />
    <p class="hint">
      Residues of the instances, with {FLANK} on each side. {describeWeights(model)} Model{" "}
      <code>{model.hash.slice(0, 8)}</code>,{" "}
      {pluralize(model.randomMatches, "random match", "random matches")}.
    </p>
  </>
);

/** The evidence that counts more, or less, than in other classes. */
function describeWeights({ weights }: Pick<ClassModel, "weights">): string {
  const words = (isMore: boolean): string =>
    Object.entries(TERMS)
      .filter(([term]) => (isMore ? (weights[term] ?? 1) > 1 + CHANGED : (weights[term] ?? 1) < 1 - CHANGED))
      .map(([term, { name }]) => `${name.toLowerCase()} (× ${auc(weights[term])})`)
      .join(", ");
  const sentences = [
    words(true) && `In this class more weight has ${words(true)}.`,
    words(false) && `Less weight has ${words(false)}.`,
  ];
  return sentences.filter(Boolean).join(" ");
}

/** Sequence logo of aligned windows; the motif is marked. */
function ProfileLogo({ windows }: { windows: readonly string[] }) {
  const length = windows[0]?.length ?? 0;
  const rows = windows.map((residues) => ({ residues, insertions: new Map(), first: 1, last: length }));
  const weights = rows.map(() => 1);
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label="Profile of the known instances">
      <svg
        class="picture"
        width={length * COLUMN}
        height={HEIGHT + 4}
        viewBox={`0 0 ${length * COLUMN} ${HEIGHT + 4}`}
        role="img"
        aria-label={`Sequence logo of ${pluralize(windows.length, "instance")}`}
      >
        {Array.from({ length }, (_, column) => (
          <LogoLetters
            key={column}
            letters={makeLogo(rows, weights, column + 1)}
            x={column * COLUMN}
            y={HEIGHT}
            width={COLUMN}
          />
        ))}
        <line
          x1={FLANK * COLUMN}
          x2={(length - FLANK) * COLUMN}
          y1={HEIGHT + 2}
          y2={HEIGHT + 2}
          stroke="currentColor"
          stroke-width="2"
        />
      </svg>
    </div>
  );
}
