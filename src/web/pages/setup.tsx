import { newPasswordFields, personBody, personFields, usernameField } from "../account/fields.tsx";
import { UsedLink } from "../account/used-link.tsx";
import { Form } from "../components/form.tsx";
import { PageHead } from "../components/layout.tsx";
import { definePage, navigate, useKey } from "../page.tsx";
import { call } from "../request.ts";

function Setup() {
  const key = useKey();
  if (key === "") return <UsedLink />;
  return (
    <div class="narrow">
      <PageHead title="Set up labd">
        Create the first administrator, who can add all other users. The link works once.
      </PageHead>
      <Form
        submit="Create administrator"
        focusError
        initial={{ username: "", full_name: "", email: "", password: "", again: "" }}
        fields={(values) => [
          usernameField(),
          ...personFields(),
          ...newPasswordFields<typeof values>("Password")(values),
        ]}
        onSubmit={async ({ username, password, ...person }) => {
          await call("POST /api/setup", {
            body: { key: key ?? "", username, password, ...personBody(person) },
          });
          navigate("/administration");
          return true;
        }}
      />
    </div>
  );
}

export const setupPage = definePage({
  name: "setup",
  paths: ["/setup"],
  title: "Set up labd",
  keyed: true,
  View: Setup,
});
