/** Which verdicts are shown; "" for all of them. */
export function VerdictFilter(props: {
  choices: readonly string[];
  value: string;
  onChange: (verdict: string) => void;
}) {
  return (
    <label>
      Verdict{" "}
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        <option value="">all</option>
        {props.choices.map((verdict) => (
          <option key={verdict}>{verdict}</option>
        ))}
      </select>
    </label>
  );
}
