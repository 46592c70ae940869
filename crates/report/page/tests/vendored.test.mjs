// Vendored files are the published ones.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";

const require = createRequire(import.meta.url);

test("the page's Plotly is the published one, and its licence is there", () => {
  const published = dirname(require.resolve("plotly.js-cartesian-dist-min/package.json"));
  const vendored = join(import.meta.dirname, "..", "vendor");
  for (const [file, as] of [["plotly-cartesian.min.js", "plotly-cartesian.min.js"], ["LICENSE", "plotly-LICENSE"]]) {
    assert.ok(readFileSync(join(published, file)).equals(readFileSync(join(vendored, as))), file);
  }
});
