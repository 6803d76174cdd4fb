import { decimal, type Match, type NumberedMatch, sentence } from "./result.ts";

const TERMS: readonly { name: keyof NonNullable<Match["contributions"]>; title: string; about: string }[] = [
  { name: "retention", title: "Kept by homologs", about: "more often than its surroundings let expect" },
  { name: "lossRate", title: "Lost slowly", about: "along the branches of the tree" },
  { name: "divergence", title: "Surroundings change fast", about: "as they do around true motifs" },
  {
    name: "disorder",
    title: "Surroundings are disordered",
    about: "in the homologs, so that a partner can reach it",
  },
  { name: "chain", title: "Disorder of the chain", about: "against it: much of it is everywhere" },
  { name: "burial", title: "Hydrophobic segment", about: "against it: a membrane or a core hides it" },
  { name: "charge", title: "Net charge of the region", about: "for it where acidic" },
  { name: "serThrFraction", title: "Serine and threonine", about: "in the region" },
  { name: "terminusProximity", title: "Near an end", about: "of the chain" },
  { name: "abundance", title: "More matches than chance makes", about: "in this protein" },
];

/** Half the width of a bar's place, and what it stands for. */
const HALF = 80;
const REACH = 2;

/** The score of a match in words, and what its z is made of. */
export function Evidence({ match }: { match: NumberedMatch }) {
  const { contributions, z, warnings } = match;
  return (
    <section class="card why" aria-labelledby="why">
      <h2 id="why">Why</h2>
      <div>
        <p class="sentence">{sentence(match)}</p>
        {warnings.map((warning) => (
          <p key={warning} class="note warn">
            {warning}
          </p>
        ))}
      </div>
      {contributions && (
        <table class="evidence">
          <caption>What speaks for it, in standard deviations of random matches</caption>
          <thead class="unseen">
            <tr>
              <th scope="col">Evidence</th>
              <th scope="col">For or against</th>
              <th scope="col">Adds to z</th>
            </tr>
          </thead>
          <tbody>
            {TERMS.map(({ name, title, about }) => {
              const value = contributions[name] ?? 0;
              const long = Math.min(1, Math.abs(value) / REACH) * HALF;
              return (
                <tr key={name}>
                  <th scope="row">
                    {title} <small>{about}</small>
                  </th>
                  <td>
                    <svg
                      viewBox={`0 0 ${HALF * 2} 14`}
                      height={14}
                      preserveAspectRatio="none"
                      aria-hidden="true"
                    >
                      <rect
                        class={value < 0 ? "against" : "for"}
                        x={value < 0 ? HALF - long : HALF}
                        y={2}
                        width={long}
                        height={10}
                      />
                      <line class="zero" x1={HALF} x2={HALF} y1={0} y2={14} />
                    </svg>
                  </td>
                  <td class="numeric">{signed(value)}</td>
                </tr>
              );
            })}
            <tr>
              <th scope="row">The same for all matches</th>
              <td />
              <td class="numeric">{signed(contributions.offset ?? 0)}</td>
            </tr>
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">z</th>
              <td />
              <td class="numeric">
                <strong>{decimal(z)}</strong>
              </td>
            </tr>
          </tfoot>
        </table>
      )}
    </section>
  );
}

const signed = (value: number): string => (value > 0 ? `+${decimal(value)}` : decimal(value));
