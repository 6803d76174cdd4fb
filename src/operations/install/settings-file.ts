import { SETTING_NAMES, SETTINGS } from "../../config.ts";

/** A settings file that says what can be set: every setting with its default, as a comment. */
export function settingsFile(dataDirectory: string): string {
  const rows = SETTING_NAMES.filter((name) => name !== "data_dir" && name !== "workers").map((name) => {
    const { sentence, fallback } = SETTINGS[name];
    // A package is built on one machine for many.
    const shown = name === "password_hashes" ? 1 : fallback;
    return `${wrapped(sentence)}\n#${name} = ${JSON.stringify(shown)}\n`;
  });
  return `# Settings of labd. labd check --config FILE prints all of them and where each comes from.
# What is commented out stands here with its default. After a change: systemctl restart labd

${wrapped(SETTINGS.data_dir.sentence)}
data_dir = ${JSON.stringify(dataDirectory)}

${wrapped(SETTINGS.workers.sentence)}
#workers = 2

${rows.join("\n")}`;
}

const WIDTH = 100;

function wrapped(text: string): string {
  const lines = ["#"];
  for (const word of text.split(" ")) {
    if (lines.at(-1)!.length + word.length >= WIDTH) lines.push("#");
    lines[lines.length - 1] += ` ${word}`;
  }
  return lines.join("\n");
}
