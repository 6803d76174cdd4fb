import { href } from "../address.ts";
import { PageHead } from "../components/layout.tsx";
import { ServerText } from "../components/server-text.tsx";
import { HELP_GROUPS, HELP_TOPICS } from "../help-topics.ts";
import { definePage, usePath, useTitle } from "../page.tsx";

/** The documentation. The server writes the text, and scripts do not change it. */
function Help() {
  const path = usePath();
  const topic = HELP_TOPICS.find(({ name }) => path === `/help/${name}`) ?? HELP_TOPICS[0];
  useTitle(topic.title);
  return (
    <div class="help">
      <article>
        <PageHead title={topic.title} />
        <ServerText />
      </article>
      <nav aria-label="Help">
        {HELP_GROUPS.map(({ title, topics }) => (
          <div key={title}>
            <h2>{title}</h2>
            <ul>
              {topics.map((one) => (
                <li key={one.name}>
                  <a href={href(`/help/${one.name}`)} aria-current={one === topic ? "page" : undefined}>
                    {one.title}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
    </div>
  );
}

export const helpPage = definePage({
  name: "help",
  paths: ["/help", ...HELP_TOPICS.map(({ name }) => `/help/${name}`)],
  title: "Help",
  View: Help,
});
