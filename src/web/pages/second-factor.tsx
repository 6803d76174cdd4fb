import { SecondFactor } from "../account/second-factor.tsx";
import { nextAddress } from "../address.ts";
import { PageHead } from "../components/layout.tsx";
import { definePage, useQuery } from "../page.tsx";

function SecondFactorPage() {
  const [query] = useQuery();
  return (
    <div class="narrow stack">
      <PageHead title="Second factor">Your account needs a second factor. Set it up to continue.</PageHead>
      <SecondFactor onEnrolled={() => location.assign(nextAddress(query.get("next")))} />
    </div>
  );
}

export const secondFactorPage = definePage({
  name: "second-factor",
  paths: ["/second-factor"],
  title: "Second factor",
  View: SecondFactorPage,
});
