import { type Feature, type FeatureGroup, featureText, groupText, shortName } from "./features.ts";
import { type Plot, thinned } from "./track-geometry.ts";

/** Features of one group, in lanes. */
export interface FeatureLanes {
  group: FeatureGroup;
  features: readonly (Feature & { lane: number })[];
  /** The query's residues, for labels such as S15. */
  sequence: string;
}

const LANE = 18;
/** Radius of a feature of one residue, and room for its label below. */
const DOT = 3.5;
const LABEL = 12;
/** Pixels of a letter, to tell whether a label fits. */
const LETTER = 6.6;

const isPoint = ({ start, end }: Feature): boolean => start === end;
const isPoints = ({ features }: FeatureLanes): boolean => features.every(isPoint);

/** Room for the track's label and note. */
const MIN_LABEL_WIDTH = 24;

/** Points share one lane, with labels below. */
export const lanesHeight = (data: FeatureLanes): number =>
  isPoints(data)
    ? MIN_LABEL_WIDTH
    : Math.max(
        MIN_LABEL_WIDTH,
        LANE * (1 + data.features.reduce((most, { lane }) => Math.max(most, lane), 0)),
      );

/** The text names the feature. */
export function FeatureTrack({ data, plot }: { data: FeatureLanes; plot: Plot }) {
  const { group, features } = data;
  const { span, left, width, y } = plot;
  const inView = features.filter(({ start, end }) => end >= span.from && start <= span.to);
  const negativeLength = ({ start, end }: Feature): number => start - end;
  const lanes = [...new Set(inView.map(({ lane }) => lane))];
  return (
    <g role="img" aria-label={groupText(group, inView)}>
      <rect class="ground" x={left} y={y} width={width - left} height={lanesHeight(data)} />
      {isPoints(data) ? (
        <Points data={data} plot={plot} />
      ) : (
        lanes.flatMap((lane) =>
          thinned(
            inView.filter((one) => one.lane === lane),
            plot,
            2,
            negativeLength,
          ).map((feature) => (
            <Stretch
              key={`${lane} ${feature.start} ${feature.end} ${feature.name}`}
              {...{ feature, group, plot }}
            />
          )),
        )
      )}
    </g>
  );
}

/** A feature of several residues, with its name where it fits. */
function Stretch({
  feature,
  group,
  plot,
}: {
  feature: Feature & { lane: number };
  group: FeatureGroup;
  plot: Plot;
}) {
  const { span, left, width, scale } = plot;
  const y = plot.y + feature.lane * LANE;
  const from = Math.max(left, left + (feature.start - span.from) * scale);
  const to = Math.min(width, left + (feature.end + 1 - span.from) * scale);
  const letters = Math.floor((to - from - 8) / LETTER);
  const name = shortName(feature);
  const isFalse = feature.logic !== undefined && feature.logic !== "true positive";
  return (
    <g>
      <title>{featureText(feature)}</title>
      <rect
        class={`feature feature-${group} ${isFalse ? "doubtful" : ""}`}
        x={from}
        y={y}
        width={Math.max(2, to - from)}
        height={LANE - 3}
        rx={2.5}
      />
      {letters >= 3 && (
        <text class="feature-name" x={(from + to) / 2} y={y + LANE - 7}>
          {name.length > letters ? `${name.slice(0, letters - 1)}…` : name}
        </text>
      )}
    </g>
  );
}

/** Features of one residue each; a label where the last one leaves room. */
function Points({ data, plot }: { data: FeatureLanes; plot: Plot }) {
  const { group, sequence } = data;
  const { span, left, width, scale, y } = plot;
  const middle = y + DOT + 1;
  let free = left;
  return (
    <>
      <line class="line" x1={left} x2={width} y1={middle} y2={middle} />
      {thinned(data.features, plot, 2, ({ start }) => start).map((feature) => {
        const x = left + (feature.start - span.from + 0.5) * scale;
        const label = `${sequence[feature.start - 1] ?? ""}${feature.start}`;
        const half = (label.length * LETTER) / 2;
        const fits = x - half >= free && x + half <= width;
        if (fits) free = x + half + 4;
        return (
          <g key={`${feature.start} ${feature.name}`}>
            <title>{featureText(feature)}</title>
            <circle class={`feature-point feature-${group}`} cx={x} cy={middle} r={DOT} />
            {fits && (
              <text class="axis" x={x} y={middle + DOT + LABEL}>
                {label}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}
