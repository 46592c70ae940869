// The time to open a page of a hundred thousand samples, vs. that of a small run, and its memory.

import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import { drawn, hasBrowser, launch, open } from "./browser.mjs";
import { Workplace, copyOf } from "./runs.mjs";

const RUNS = 4;
const CASES = 2500;
const SAMPLES_OF_EACH = 10;
const TURNS = 3;
// Only the visible tables, and the first megabyte of charts, are there at first: all charts in the page took 6 times as
// long, and all tables take even more.
const MOST_TIMES = 4;

// Runs of the suites' cases with changed numbers.
function manySamples(run) {
  return Array.from({ length: RUNS }, (_, index) => {
    const copy = copyOf(run, `run-${index}`);
    const cases = Array.from({ length: CASES }, (_, number) => {
      const model = run.cases[number % run.cases.length];
      const size = `${Math.floor(number / run.cases.length) + 1}MiB`;
      const times = 1 + ((number * 37) % 100) / 50;
      const samples = Array.from({ length: SAMPLES_OF_EACH }, (_, round) => {
        const sample = structuredClone(model.samples[round % model.samples.length]);
        const noise = times * (1 + ((round * 7919 + number * 104729) % 1000) / 5000);
        for (const phase of Object.keys(sample.phases_ns)) sample.phases_ns[phase] = Math.round(sample.phases_ns[phase] * noise);
        return { ...sample, round };
      });
      return { ...model, name: model.name.replace(/size=\w+/, `size=${size}`), axes: { ...model.axes, size }, samples };
    });
    return { ...copy, cases };
  });
}

// Only children of this test: the machine may have other browsers.
function isOurs(pid) {
  for (let at = pid; at > 1; at = Number(/^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${at}/stat`, "utf8"))[1])) {
    if (at === process.pid) return true;
  }
  return false;
}

// Bytes of all processes of the browser, and of the largest page.
function memory() {
  const found = { all: 0, largestRenderer: 0 };
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      if (!command.includes("chrom") || !isOurs(Number(pid))) continue;
      const share = Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))[1]) * 1024;
      found.all += share;
      if (command.includes("--type=renderer")) found.largestRenderer = Math.max(found.largestRenderer, share);
    } catch {
      // It has ended.
    }
  }
  return found;
}

// In a separate browser, up to the first chart.
async function opening(file) {
  const browser = await launch();
  const began = performance.now();
  const { page, wrongs } = await open(browser, file);
  await drawn(page, page.locator(".plot").first());
  const ms = performance.now() - began;
  const held = memory();
  await browser.close();
  assert.deepEqual(wrongs, []);
  return { ms, held };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const seconds = (openings) => openings.map(({ ms }) => `${(ms / 1e3).toFixed(2)} s`).join(", ");

describe("a page of a hundred thousand samples", { skip: !hasBrowser && "no Chromium here" }, () => {
  let workplace, run, small;

  before(() => {
    // Thousands of syncs take minutes on a busy disk.
    workplace = new Workplace("/dev/shm");
    run = workplace.measured("--suite", "buffer,write,parallel,copy,durable", "--size", "64KiB", "--samples", "2");
    small = workplace.page("small.html", "1");
  });
  after(() => workplace?.remove());

  test(`is below 20 MB, opens in less than ${MOST_TIMES} times a small page's time, and takes below 500 MB`, async (t) => {
    const many = manySamples(run).map((run, index) => workplace.exported(`large-${index}.json`, run));
    const file = workplace.page("large.html", ...many);
    const { size } = statSync(file);
    // In turns, because of other load.
    const [ofLarge, ofSmall] = [[], []];
    for (let turn = 0; turn < TURNS; turn += 1) {
      ofLarge.push(await opening(file));
      ofSmall.push(await opening(small));
    }
    const times = median(ofLarge.map(({ ms }) => ms)) / median(ofSmall.map(({ ms }) => ms));
    const held = ofLarge.at(-1).held;
    assert.ok(held.largestRenderer > 20e6, "the page was found among the processes");
    const text = `${(size / 1e6).toFixed(1)} MB; opened in ${seconds(ofLarge)}, a small page in ${seconds(ofSmall)}: ${times.toFixed(2)} times as long; ` +
      `page ${(held.largestRenderer / 1e6).toFixed(0)} MB, browser with all processes ${(held.all / 1e6).toFixed(0)} MB`;
    t.diagnostic(text);
    assert.ok(size < 20e6, text);
    assert.ok(times < MOST_TIMES, text);
    assert.ok(held.largestRenderer < 500e6, text);
  });
});
