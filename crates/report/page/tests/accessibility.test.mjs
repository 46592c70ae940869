// For users without sight or mouse, and for strict browsers.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";

import { HtmlValidate } from "html-validate";

import { drawn, hasBrowser, launch, oneOfEachKind, open } from "./browser.mjs";
import { Workplace, copyOf, endedBy, slowed } from "./runs.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

describe("the page is for everyone", () => {
  let workplace, browser, file, search;

  before(async () => {
    workplace = new Workplace();
    const run = workplace.measured("--suite", "buffer,copy,durable", "--size", "64KiB", "--samples", "2", "--label", "a");
    const slower = slowed(copyOf(run, "b"), 3);
    Object.assign(slower.cases[1].samples.at(-1), endedBy("failed", "No space left on device"));
    workplace.imported("b.json", slower);
    file = workplace.page("page.html", "a", "b");
    workplace.advised("--for", "stream", "--size", "64KiB", "--budget", "20s");
    search = workplace.page("search.html");
    if (hasBrowser) browser = await launch();
  });

  after(async () => {
    await browser?.close();
    workplace?.remove();
  });

  for (const colorScheme of ["light", "dark"]) {
    async function complaints(file, unfold) {
      // The page allows only its own scripts. Tests bypass this.
      const { page, close } = await open(browser, file, { colorScheme, bypassCSP: true });
      await unfold(page);
      await page.evaluate(AXE);
      const options = { runOnly: STANDARDS, resultTypes: ["violations"] };
      const { violations } = await page.evaluate((options) => axe.run(document, options), options);
      await close();
      return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary}`).join("; ")}`);
    }

    test(`axe finds nothing to complain of, in ${colorScheme} colours`, { skip: !hasBrowser && "no Chromium here" }, async () => {
      const found = await complaints(file, async (page) => {
        await page.locator("#filters summary").click();
        // One chart of each kind is enough.
        for (const plot of await oneOfEachKind(page)) {
          await drawn(page, plot);
          await plot.locator("xpath=..").locator("details.behind > summary").click();
        }
      });
      assert.deepEqual(found, []);
    });

    test(`axe finds nothing to complain of in a search, in ${colorScheme} colours`, { skip: !hasBrowser && "no Chromium here" }, async () => {
      const found = await complaints(search, (page) =>
        page.evaluate(() => document.querySelectorAll(".spread details").forEach((details) => (details.open = true))));
      assert.deepEqual(found, []);
    });
  }

  test("everything can be reached and used by keys alone", { skip: !hasBrowser && "no Chromium here" }, async () => {
    const { page, wrongs, close } = await open(browser, file);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the results");
    await page.locator("#filters summary").focus();
    await page.keyboard.press("Enter");
    await page.locator("#words").waitFor({ state: "visible" });
    await page.locator('fieldset[data-property="suite"] input').first().focus();
    await page.keyboard.press("Space");
    assert.match(await page.locator("#shown").textContent(), / of /);
    await page.keyboard.press("Space");
    assert.match(await page.locator("#shown").textContent(), /^all /);
    const button = page.locator('[data-table="troubled"] .copy').first();
    await button.focus();
    await page.keyboard.press("Enter");
    await page.locator("#copied", { hasText: "Copied: writebench" }).waitFor();
    assert.deepEqual(wrongs, []);
    await close();
  });

  test("the pages are valid HTML", async () => {
    // Scripts and data are not markup.
    const [text, ofSearch] = [file, search].map((file) => readFileSync(file, "utf8").replace(/(<script[^>]*>)[\s\S]*?(<\/script>)/g, "$1$2"));
    const validator = new HtmlValidate({
      extends: ["html-validate:recommended"],
      // Matters of style.
      rules: { "doctype-style": "off", "no-inline-style": "off", "require-sri": "off", "long-title": "off" },
    });
    const reports = [await validator.validateString(text), await validator.validateString(ofSearch)];
    const found = reports.flatMap(({ results }) => results).flatMap(({ messages }) => messages).map((message) => `${message.line}:${message.column} ${message.ruleId}: ${message.message}`);
    assert.deepEqual(found, []);
  });
});
