import { Confirmation } from "../account/confirmation.tsx";
import { SecondFactor } from "../account/second-factor.tsx";
import { nextAddress } from "../address.ts";
import { definePage, useQuery } from "../page.tsx";

function SecondFactorPage() {
  const [query] = useQuery();
  return (
    <div class="narrow">
      <h1>Second factor</h1>
      <p class="lead">
        Here your account has to have a second factor. Set it up, and you go on where you wanted to.
      </p>
      <Confirmation />
      <SecondFactor onKept={() => location.assign(nextAddress(query.get("next")))} />
    </div>
  );
}

export const secondFactorPage = definePage({
  name: "second-factor",
  paths: ["/second-factor"],
  title: "Second factor",
  View: SecondFactorPage,
});
