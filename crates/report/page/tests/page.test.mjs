// Look, filter, sort, copy, print.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { colours, dataOf, drawn, hasBrowser, launch, oneOfEachKind, open, picture } from "./browser.mjs";
import { Workplace, copyOf, endedBy, searched, sideBySide, slowed, timed, together } from "./runs.mjs";

// Would end any element, attribute, string or script.
const HOSTILE = `</script><script>alert(1)</script>"'><img src=x onerror=alert(2)>\n{{7*7}}<b>`;

// The baseline is the first.
const FINALISTS = [
  "write,size=64KiB", "mmap,size=64KiB",
  ...["write,size=64KiB", "pwrite,size=64KiB", "pwrite,size=64KiB,threads=2,descriptor=per-thread"].flatMap((name) =>
    ["fallocate", "set-len"].map((prepare) => `${name},chunk=16KiB,prepare=${prepare},writeback=8MiB,drop=yes`)),
];

// Candidates outside the final.
const LOOKED = ["write", "pwrite", "fwrite"].flatMap((method) =>
  ["1KiB", "2KiB", "4KiB", "8KiB"].flatMap((chunk) => ["create", "fallocate", "set-len"].map((prepare) => `${method},size=64KiB,chunk=${chunk},prepare=${prepare}`)));

// At the beginning of a bar, away from its interval.
const inBar = { force: true, position: { x: 3, y: 3 } };

describe("the page of a run", { skip: !hasBrowser && "no Chromium here" }, () => {
  let workplace, browser, run, files;

  before(async () => {
    workplace = new Workplace();
    // Real cases with computed values.
    const measured = (count, ...words) => timed(workplace.measured(...words, "--samples", "1"), count);
    run = together(
      measured(2, "--suite", "buffer,copy", "--size", "64KiB", "--label", "before"),
      measured(2, "--suite", "parallel,durable", "--size", "64KiB", "--set", "prepare=truncate"),
      measured(2, "--suite", "write", "--size", "64KiB", "--set", "chunk=1KiB,4KiB,16KiB"),
      measured(2, "--suite", "direct", "--size", "256KiB", "--set", "chunk=4KiB,16KiB,64KiB"),
      measured(1, "--case", "write,size=2MiB,chunk=4KiB,sync=fsync/1"),
    );
    workplace.exported("before.json", run);
    const firstLook = measured(6, "--size", "64KiB", "--label", "first look");
    const finalists = FINALISTS.flatMap((name) => ["--case", name]);
    const search = searched(measured(6, ...finalists), FINALISTS[0]);
    workplace.advised("--for", "stream", "--size", "64KiB", "--budget", "20s");
    const advised = workplace.page("advised.html");
    const looked = searched(measured(1, ...LOOKED.flatMap((name) => ["--case", name])), undefined, "screening");
    looked.cases.filter((_, number) => number % 3 === 0).forEach((entry) => entry.samples.push({ ...structuredClone(entry.samples[0]), round: 1 }));
    const whole = together(search, looked);
    const slower = slowed(copyOf(run, "after"), 2);
    const [one, other] = slower.cases;
    Object.assign(one.samples.at(-1), endedBy("failed", "No space left on device"));
    other.samples = [{ ...other.samples[0], ...endedBy("unsupported", "not here") }];
    workplace.imported("after.json", slower);
    const hostile = copyOf(run, HOSTILE);
    hostile.run.arguments.push(HOSTILE);
    hostile.targets[0].name = hostile.targets[0].path = `/mnt/${HOSTILE}`;
    hostile.targets[0].environment.filesystem.mount_point = hostile.targets[0].path;
    for (const entry of hostile.cases) {
      entry.target = hostile.targets[0].name;
      entry.label = HOSTILE;
      entry.section = `${entry.section} ${HOSTILE}`;
    }
    Object.assign(hostile.cases[0].samples.at(-1), endedBy("failed", HOSTILE));
    workplace.exported("hostile.json", hostile);
    files = {
      one: workplace.page("one.html", workplace.file("before.json")),
      firstLook: workplace.page("first.html", workplace.exported("first.json", copyOf(firstLook, "first look"))),
      search: workplace.page("search.html", workplace.exported("search.json", copyOf(search, "search"))),
      searched: workplace.page("searched.html", workplace.exported("searched.json", copyOf(whole, "searched"))),
      advised,
      filesystems: workplace.page("filesystems.html", workplace.exported("filesystems.json", sideBySide(run, ["ext4", "xfs", "btrfs"]))),
      two: workplace.page("two.html", workplace.file("before.json"), "after"),
      hostile: workplace.page("hostile.html", workplace.file("hostile.json"), workplace.file("before.json")),
    };
    browser = await launch();
  });

  after(async () => {
    await browser?.close();
    workplace?.remove();
  });

  const chartOf = async (page, wanted) => (await dataOf(page)).charts.findIndex(wanted);

  async function rankedPlot(page) {
    const ranked = await chartOf(page, (chart) => chart.of === "ranked");
    return drawn(page, page.locator(`[data-chart="${ranked}"]`));
  }

  // The longest bar and its case.
  async function longestBar(page, plot) {
    const { charts } = await dataOf(page);
    const { points } = charts[await plot.getAttribute("data-chart")].series[0];
    const longest = points.reduce((one, other) => (other[2] > one[2] ? other : one));
    return { bar: picture(plot).locator(`[data-point="0.${points.indexOf(longest)}"] rect`), row: longest[1] };
  }

  // The texts of an axis with their places.
  async function axisOf(plot) {
    return picture(plot).locator('text.wb-quiet[text-anchor="end"]:not([transform])').evaluateAll((all) => all.map((text) => `${text.textContent} at ${text.getAttribute("y")}`));
  }

  const tables = (page, name) => page.locator(`[data-table="${name}"]`);
  const setting = (page, property, value) => page.locator(`fieldset[data-property="${property}"] input[value="${value}"]`);

  async function withPage(file, look, options) {
    const opened = await open(browser, file, options);
    try {
      await look(opened.page);
      assert.deepEqual(opened.wrongs, []);
    } finally {
      await opened.close();
    }
  }

  async function isVisible(page, plot) {
    await drawn(page, plot);
    const { different, most } = await colours(page, plot);
    const title = await plot.getAttribute("aria-label");
    assert.ok(different > 8 && most < 0.995, `${title}: ${different} colours, one of them on ${most}`);
  }

  test("every chart is drawn, and has a table with its values", () =>
    withPage(files.one, async (page) => {
      const figures = await page.locator("figure.chart").all();
      assert.ok(figures.length >= 12, `${figures.length} charts`);
      for (const figure of figures) {
        await drawn(page, figure.locator(".plot"));
        await figure.locator("details.behind > summary").click();
        const rows = figure.locator(".behind tbody tr");
        await rows.first().waitFor();
        assert.ok(/\d/.test(await rows.first().textContent()));
        assert.ok((await figure.locator(".behind caption").textContent()).length > 10);
      }
    }));

  for (const colorScheme of ["light", "dark"]) {
    test(`a chart of each kind can be seen in ${colorScheme} colours`, () =>
      withPage(files.one, async (page) => {
        for (const plot of await oneOfEachKind(page)) await isVisible(page, plot);
      }, { colorScheme }));
  }

  test("each suite has the charts that its question needs", () =>
    withPage(files.one, async (page) => {
      const titles = (await page.locator("figure.chart figcaption strong").allTextContents()).join("\n");
      for (const wanted of [/chunk size/i, /threads/i, /flags/i, /fastest/i, /latenc|percentile|how long/i, /buffer size/i, /phase|where the time/i]) {
        assert.match(titles, wanted);
      }
      const { charts } = await dataOf(page);
      for (const of of ["throughput-by-chunk", "throughput-by-threads", "flags", "ranked", "latency", "cpu-time", "phases"]) {
        assert.ok(charts.some((chart) => chart.of === of), of);
      }
    }));

  for (const [name, viewport] of [["a screen", { width: 1280, height: 900 }], ["a phone", { width: 390, height: 844 }]]) {
    test(`the first screen of ${name} has the chart of all answers, and the page that of all cases`, async () => {
      for (const kind of ["firstLook", "one", "two", "search", "filesystems"]) {
        await withPage(files[kind], async (page) => {
          const box = (selector) => page.locator(selector).filter({ visible: true }).first().boundingBox();
          const [first, goals, answers, chart] = [await box("#goals .picture svg rect"), await box("#goals"), await box("#answers"), await box(".overview")];
          assert.ok(first.height > 5 && first.y + first.height <= viewport.height, `${kind}: the first bar is at ${first.y}`);
          assert.ok(goals.y < answers.y && answers.y < chart.y, `${kind}: the chart, its table, all cases`);
          assert.equal(await page.locator("#goals .picture svg").filter({ visible: true }).count(), 1, `${kind}: wide or narrow`);
          for (const axis of await page.locator(".overview .axis .ticks").all()) {
            const ticks = await axis.locator("span").allTextContents();
            assert.ok(ticks[0] === "0" && ticks.length >= 3, `${kind}: from 0: ${ticks.join()}`);
          }
          for (const colorScheme of ["light", "dark"]) {
            await page.emulateMedia({ colorScheme });
            for (const part of ["#goals .picture", ".overview tbody"]) {
              const { different } = await colours(page, page.locator(part).first());
              assert.ok(different > 8, `${kind}, ${part}, ${colorScheme}: ${different} colours`);
            }
          }
        }, { viewport });
      }
    });

    test(`nothing is wider than ${name}, and no labels of an axis collide`, async () => {
      for (const kind of ["firstLook", "one", "two", "search", "searched", "advised", "filesystems"]) {
        await withPage(files[kind], async (page) => {
          await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
          for (const plot of (await page.locator(".plot").all()).slice(0, 4)) await drawn(page, plot);
          const wide = await page.evaluate(() => {
            const isOutside = (node) => {
              const { left, right, width } = node.getBoundingClientRect();
              return width > 0 && (left < -1 || right > document.documentElement.clientWidth + 1);
            };
            const nodes = [...document.querySelectorAll("body *")].filter((node) => !node.closest(".scroll, .hidden, .skip, pre") && node.checkVisibility());
            return nodes.filter(isOutside).map((node) => `${node.tagName} ${node.textContent.slice(0, 60)}`);
          });
          assert.deepEqual(wide, [], kind);
          const axes = await page.evaluate(() => [...document.querySelectorAll(".ticks, #goals svg .wb-foot, .plot svg .wb-foot")].filter((axis) => axis.checkVisibility()).map((axis) =>
            [...axis.children].filter((node) => node.textContent !== "" && node.checkVisibility()).map((node) => ({ ...node.getBoundingClientRect().toJSON(), text: node.textContent }))));
          assert.ok(axes.length > 0, kind);
          for (const labels of axes) {
            const meets = (a, b) => a !== b && a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2;
            for (const label of labels) assert.ok(!labels.some((other) => meets(label, other)), `${kind}: ${labels.map(({ text }) => text).join(" | ")}`);
          }
        }, { viewport });
      }
    });
  }

  // Of a run that answers goals: the rows of the table, by goal and target.
  const tableOf = (page) => page.locator(".answers tbody tr").evaluateAll((rows) => rows.map((row) => {
    const text = (selector) => row.querySelector(selector)?.textContent.trim() ?? "";
    return { goal: text("th"), name: text(".case"), value: text(".figure strong"), interval: text(".figure .quiet") };
  }));

  test("every recommended method is in its charts, with the numbers of the table", () =>
    withPage(files.firstLook, async (page) => {
      const answers = (await tableOf(page)).filter(({ name }) => name !== "");
      assert.ok(answers.length > 2, `${answers.length} answers`);
      const { cases, charts } = await dataOf(page);
      const ofAll = (await page.locator("#goals .picture .wide text").allTextContents()).join("\n");
      for (const { goal, name, value, interval } of answers) {
        const row = cases.findIndex((entry) => entry.case === name && entry.recommended);
        assert.notEqual(row, -1, `${name} is recommended`);
        assert.deepEqual(cases[row].shown, [value, interval], goal);
        const ranked = charts.filter((chart) => chart.of === "ranked").flatMap((chart) => chart.series).flatMap((series) => series.points);
        assert.equal(ranked.find(([, of]) => of === row)?.at(-1), `${value} (${interval})`, goal);
        assert.ok(ofAll.includes(`${value} `) && ofAll.includes(`(${interval})`), `${goal}: ${value} (${interval}) in ${ofAll}`);
        const shown = page.locator(".overview tr.case-row", { hasText: "recommended" }).filter({ hasText: interval });
        assert.ok((await shown.count()) > 0, `${goal}: a row in the chart of all cases`);
      }
    }));

  test("a page of several filesystems has their names beside their bars, in the order of the run, also on a phone", async () => {
    for (const width of [1280, 390]) {
      await withPage(files.filesystems, async (page) => {
        assert.deepEqual((await page.locator("#goals .series li").allTextContents()).map((text) => text.trim()), ["ext4", "xfs", "btrfs"]);
        for (const kind of ["ext4", "xfs", "btrfs"]) {
          assert.ok((await page.locator("#goals .picture svg text", { hasText: new RegExp(`^${kind}: `) }).filter({ visible: true }).count()) > 0, kind);
          assert.ok((await page.locator(".overview .where", { hasText: kind }).filter({ visible: true }).count()) > 0, kind);
        }
        const colours = await page.locator(".strip path").evaluateAll((paths) => paths.map((path) => path.style.getPropertyValue("--light")));
        const { colours: ofTargets } = await dataOf(page);
        assert.ok(colours.every((colour) => !ofTargets.flat().includes(colour)), colours.join());
      }, { viewport: { width, height: 900 } });
    }
  });

  test("the title of a search names its goal, and warnings are at the top", () =>
    withPage(files.search, async (page) => {
      assert.match(await page.locator("h1").textContent(), /^stream: new file, page cache, 64 KiB on /);
      assert.equal(await page.locator("main .warnings:not(#comparison *)").count(), 0);
    }));

  test("the chart of all cases has a row for each ranked case, on the scale of its goal", () =>
    withPage(files.firstLook, async (page) => {
      const slower = page.locator(".overview .more button");
      while ((await slower.count()) > 0) await slower.first().click();
      const cases = page.locator(".overview tr.case-row:not(.strip)");
      const rows = await cases.evaluateAll((all) =>
        all.map((row) => {
          const axis = row.closest("tbody").querySelector(".axis");
          const last = [...axis.querySelectorAll(".ticks span")].at(-1);
          return {
            unit: axis.querySelector(".figure").firstChild.textContent.trim(),
            // Of the axis, in the same way as a bar.
            perPart: Number(last.textContent) / (Number.parseFloat(last.style.left) / 100),
            value: Number(/[\d.]+/.exec(row.querySelector(".figure").textContent)[0]),
            part: row.querySelector(".bar").offsetWidth / row.querySelector(".scale").clientWidth,
          };
        }));
      const shown = (await dataOf(page)).cases.filter((entry) => entry.goal !== undefined).length;
      assert.equal(rows.length, shown);
      assert.ok(new Set(rows.map(({ unit }) => unit)).size > 1, "files or records have their own unit");
      for (const { unit, perPart, value, part } of rows) assert.ok(Math.abs(value / perPart - part) < 0.02, `${value} ${unit}: ${part} of ${perPart}`);
      const mappings = await cases.filter({ hasText: "mmap" }).count();
      assert.ok(mappings > 0 && mappings < rows.length, `${mappings} of ${rows.length}`);
      await page.locator("#filters summary").click();
      await page.locator("#words").fill("mmap");
      assert.equal(await cases.count(), mappings);
    }));

  test("filesystems are side by side in the chart of all cases", () =>
    withPage(files.filesystems, async (page) => {
      const first = page.locator(".overview tr.case-row").filter({ has: page.locator("button") }).first();
      assert.equal(await first.locator("th").getAttribute("rowspan"), "3");
      assert.deepEqual(await page.locator(".legend .swatch").allTextContents(), ["ext4", "xfs", "btrfs"]);
    }));

  test("all cases of a goal share a line, and rows appear on request", () =>
    withPage(files.one, async (page) => {
      const rows = () => page.locator(".overview tr.case-row button").count();
      const before = await rows();
      assert.ok((await page.locator(".overview .strip").count()) > 0);
      await page.locator(".overview .more button").first().click();
      assert.ok((await rows()) > before);
    }));

  test("all charts of throughput have the same scale", () =>
    withPage(files.two, async (page) => {
      const { charts } = await dataOf(page);
      const numbers = charts.flatMap((chart, number) => (chart.kind === "lines" && chart.y.unit === "B/s" && chart.of !== "over-time" ? [number] : []));
      const axes = new Set();
      for (const number of numbers) {
        const plot = await drawn(page, page.locator(`[data-chart="${number}"]`));
        axes.add((await axisOf(plot)).join());
      }
      assert.ok(numbers.length >= 4, `${numbers.length} charts`);
      assert.equal(axes.size, 1, [...axes].join(" | "));
    }));

  test("a logarithmic axis names three values or more with their units, also on a phone", async () => {
    for (const width of [1280, 390]) {
      await withPage(files.one, async (page) => {
        const number = await chartOf(page, (chart) => chart.kind === "lines" && chart.of === "cpu-time" && chart.y.scale === "log10");
        const plot = await drawn(page, page.locator(`[data-chart="${number}"]`));
        const texts = (await axisOf(plot)).map((text) => text.split(" at ")[0]);
        assert.ok(texts.length >= 3 && texts.every((text) => /^0$|^[\d.]+ [nµm]?s$/.test(text)), `${width}: ${texts.join()}`);
      }, { viewport: { width, height: 900 } });
    }
  });

  test("answers, warnings and the environment are in the page itself", () =>
    withPage(files.one, async (page) => {
      assert.ok((await page.locator(".answers tbody tr").count()) > 0);
      assert.ok((await page.locator(".sentences li").count()) > 0);
      await page.getByText("Environment", { exact: true }).click();
      for (const term of ["machine", "kernel", "filesystem", "command"]) {
        assert.ok(await page.locator("dt", { hasText: new RegExp(`^${term}$`) }).isVisible(), term);
      }
    }, { javaScriptEnabled: true }));

  test("filters leave the cases that were chosen, in tables and in charts", () =>
    withPage(files.one, async (page) => {
      const all = run.cases.length;
      assert.equal(await page.locator("#shown").textContent(), `all ${all} cases`);
      await page.locator("#filters summary").click();
      await setting(page, "suite", "buffer").uncheck();
      const left = run.cases.filter((entry) => entry.suite !== "buffer").length;
      assert.match(await page.locator("#shown").textContent(), new RegExp(`^${left} of ${all} cases`));
      const buffer = page.locator(".section", { has: page.getByRole("heading", { name: "By buffer size" }) });
      const figure = buffer.locator("figure.chart").first();
      const plot = await drawn(page, figure.locator(".plot"));
      await figure.getByText("Nothing to draw").waitFor();
      assert.equal(await picture(plot).count(), 0);
      await setting(page, "suite", "buffer").check();
      await picture(plot).waitFor();
      assert.equal(await figure.getByText("Nothing to draw").count(), 0);
      assert.equal(await page.locator("#shown").textContent(), `all ${all} cases`);
      for (const property of ["method", "prepare"]) {
        const value = await page.locator(`fieldset[data-property="${property}"] input`).first().getAttribute("value");
        await setting(page, property, value).uncheck();
        const valueOf = (entry) => (property === "method" ? entry.method : entry.axes.prepare);
        const left = run.cases.filter((entry) => valueOf(entry) !== value).length;
        assert.match(await page.locator("#shown").textContent(), new RegExp(`^${left} of ${all} cases`), property);
        await page.locator("#reset").click();
      }
      await page.locator("#words").fill("fwrite chunk=16KiB");
      const words = run.cases.filter((entry) => entry.name.includes("fwrite") && entry.name.includes("chunk=16KiB")).length;
      assert.ok(words > 0);
      assert.match(await page.locator("#shown").textContent(), new RegExp(`^${words} of ${all} cases`));
    }));

  test("the name of a case, and a point of a chart, copy the command that measures it again", () =>
    withPage(files.one, async (page) => {
      const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
      const table = tables(page, "cases").first();
      await table.scrollIntoViewIfNeeded();
      await table.locator(".copy").nth(2).click();
      const command = await clipboard();
      assert.match(await page.locator("#copied").textContent(), /^Copied: writebench run /);
      assert.equal(command, `writebench run ${run.targets[0].path} --case ${run.cases[2].name}`);
      // writebench accepts it.
      workplace.writebench(...command.split(" ").slice(1), "--dry-run");

      const plot = await rankedPlot(page);
      const { bar, row: slowest } = await longestBar(page, plot);
      await bar.click(inBar);
      await page.locator("#copied", { hasText: run.cases[slowest].name }).waitFor();
      assert.equal(await clipboard(), `writebench run ${run.targets[0].path} --case ${run.cases[slowest].name}`);
    }));

  test("pointing at a value shows its samples and the case, until the pointer leaves or Escape is pressed", () =>
    withPage(files.one, async (page) => {
      const plot = await rankedPlot(page);
      const { bar } = await longestBar(page, plot);
      const tip = page.locator("#tip");
      await bar.hover(inBar);
      const text = await tip.textContent();
      for (const wanted of [/size=64KiB/, /B\/s/, /samples/, /elapsed/, /CPU/]) assert.match(text, wanted);
      await page.keyboard.press("Escape");
      assert.equal(await tip.isVisible(), false);
      await bar.hover({ ...inBar, position: { x: 5, y: 4 } });
      assert.equal(await tip.isVisible(), true);
      await page.mouse.move(2, 2);
      assert.equal(await tip.isVisible(), false);
    }));

  test("pointing at a dot shows its sample, and no dot means another sample", () =>
    withPage(files.one, async (page) => {
      const plot = await rankedPlot(page);
      const { cases } = await dataOf(page);
      const dots = picture(plot).locator("[data-dots]").first();
      const places = await dots.evaluate((group) => [...group.querySelectorAll("path")].flatMap((path) => {
        const matrix = path.getScreenCTM();
        return [...path.getAttribute("d").matchAll(/M([-\d.]+),([-\d.]+)/g)].map(([, x, y]) => {
          const { x: left, y: top } = new DOMPoint(x, y).matrixTransform(matrix);
          return [left, top];
        });
      }));
      const rounds = new Set();
      for (const [x, y] of places) {
        await page.mouse.move(x, y);
        rounds.add(/sample of round (\d+)/.exec(await page.locator("#tip").textContent())?.[1]);
      }
      const [, number] = (await dots.getAttribute("data-dots")).split(".");
      const row = (await dataOf(page)).charts[await plot.getAttribute("data-chart")].series[0].points[number][1];
      assert.deepEqual([...rounds].sort(), cases[row].samples.round.map(String).sort());
    }));

  test("a line tells the value of each of its points, also of those without a mark", () =>
    withPage(files.one, async (page) => {
      const number = await chartOf(page, (chart) => chart.of === "latency" && chart.series.length > 1);
      const plot = await drawn(page, page.locator(`[data-chart="${number}"]`));
      const line = picture(plot).locator("[data-line]").first();
      const [x, y] = await line.evaluate((path) => {
        const corners = path.getAttribute("d").slice(1).split("L");
        const [x, y] = corners[Math.floor(corners.length / 2)].split(",");
        const { x: left, y: top } = new DOMPoint(x, y).matrixTransform(path.getScreenCTM());
        return [left, top];
      });
      await page.mouse.move(x, y);
      const text = await page.locator("#tip").textContent();
      assert.match(text, /share of calls \d.* %Time of a call: [\d.]+ [nµm]?s/);
    }));

  test("a click on a name in the legend hides its line, and another one shows it", () =>
    withPage(files.two, async (page) => {
      const number = await chartOf(page, (chart) => chart.kind === "lines" && chart.of === "cpu-time");
      const plot = await drawn(page, page.locator(`[data-chart="${number}"]`));
      const figure = page.locator("figure.chart", { has: page.locator(`[data-chart="${number}"]`) });
      const lines = picture(plot).locator("[data-line]").filter({ visible: true });
      const name = figure.locator(".series button").first();
      const before = await lines.count();
      await name.click();
      assert.equal(await name.getAttribute("aria-pressed"), "false");
      assert.ok((await lines.count()) < before, `${before} lines`);
      await name.focus();
      await page.keyboard.press("Enter");
      assert.equal(await lines.count(), before);
    }));

  test("filters close up the rows that they leave", () =>
    withPage(files.one, async (page) => {
      const plot = await rankedPlot(page);
      const all = picture(plot).locator(".wb-row");
      const left = all.filter({ visible: true });
      const height = () => picture(plot).evaluate((svg) => svg.viewBox.baseVal.height);
      const before = { rows: await left.count(), height: await height() };
      const names = await all.evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll(":scope > text")].slice(1).map((text) => text.textContent).join("")));
      const { charts, cases } = await dataOf(page);
      const { points } = charts[await plot.getAttribute("data-chart")].series[0];
      // Every other row, so that rows move by different distances.
      const wanted = points.map(([, row]) => cases[row]).filter(({ prepare }) => prepare !== "create").length;
      assert.ok(wanted > 1 && wanted < before.rows && before.rows === names.length, `${wanted} of ${before.rows}`);
      await page.locator("#filters summary").click();
      await setting(page, "prepare", "create").uncheck();
      await plot.scrollIntoViewIfNeeded();
      await all.filter({ visible: false }).first().waitFor({ state: "attached" });
      assert.equal(await left.count(), wanted);
      const middles = await left.evaluateAll((rows) => rows.map((row) => row.querySelector("rect").getBoundingClientRect()).map(({ top, bottom }) => (top + bottom) / 2));
      const apart = middles.slice(1).map((middle, index) => middle - middles[index]);
      assert.ok(apart.every((gap) => Math.abs(gap - apart[0]) < 1), apart.join());
      const foot = await picture(plot).locator(".wb-foot").boundingBox();
      assert.ok(foot.y - middles.at(-1) < 2 * apart[0], "the axis is below the last row");
      const part = (await height()) / before.height;
      assert.ok(part < (wanted + 3) / before.rows, `${part} of the height`);
    }));

  test("a line leaves out the points that filters exclude, and connects those around them", () =>
    withPage(files.one, async (page) => {
      const number = await chartOf(page, (chart) => chart.of === "throughput-by-chunk" && chart.series[0].points.length > 2);
      const plot = await drawn(page, page.locator(`[data-chart="${number}"]`));
      const { charts, cases } = await dataOf(page);
      const [first, second] = charts[number].series[0].points.map(([, row]) => cases[row].case);
      const corners = () => picture(plot).locator('[data-line="0.0"]').evaluate((path) => path.getAttribute("d").slice(1).split("L"));
      const before = await corners();
      const chunk = /chunk=\w+/.exec(second)[0];
      assert.ok(!first.includes(chunk), `${first} and ${second}`);
      await page.locator("#filters summary").click();
      // All chunks except the second.
      await page.locator("#words").fill(/chunk=\w+/.exec(first)[0]);
      await plot.scrollIntoViewIfNeeded();
      await page.waitForFunction((number) => document.querySelector(`[data-chart="${number}"] [data-line="0.0"]`).getAttribute("d") === "", number);
      assert.equal(await picture(plot).locator('[data-series="0"] [data-point]').filter({ visible: true }).count(), 1, "one point is no line");
      await page.locator("#words").fill("");
      await page.waitForFunction((number) => document.querySelector(`[data-chart="${number}"] [data-line="0.0"]`).getAttribute("d") !== "", number);
      assert.deepEqual(await corners(), before);
    }));

  test("every good sample of a ranked case is a dot", () =>
    withPage(files.one, async (page) => {
      const plot = await rankedPlot(page);
      const dots = await picture(plot).locator(".wb-dots, .wb-crosses").evaluateAll((all) => all.flatMap((path) => path.getAttribute("d").match(/M/g)).length);
      const copies = run.cases.filter((entry) => entry.suite === "copy" && entry.estimate);
      assert.equal(dots, copies.flatMap((entry) => entry.samples.filter((sample) => sample.outcome === "ok")).length);
    }));

  test("tables are sorted by their headings, with and without a mouse", () =>
    withPage(files.one, async (page) => {
      const table = tables(page, "cases").first();
      await table.scrollIntoViewIfNeeded();
      const heading = table.getByRole("button", { name: "elapsed", exact: true });
      await heading.focus();
      await page.keyboard.press("Enter");
      assert.equal(await table.locator("th[aria-sort]").getAttribute("aria-sort"), "descending");
      const first = await table.locator("tbody tr .copy").first().textContent();
      await page.keyboard.press("Enter");
      assert.equal(await table.locator("th[aria-sort]").getAttribute("aria-sort"), "ascending");
      assert.notEqual(await table.locator("tbody tr .copy").first().textContent(), first);
    }));

  test("failed and unsupported cases are shown with their cause", () =>
    withPage(files.two, async (page) => {
      const table = tables(page, "troubled");
      await table.scrollIntoViewIfNeeded();
      const text = await table.locator("tbody").textContent();
      assert.match(text, /failed/);
      assert.match(text, /No space left on device/);
      assert.match(text, /unsupported/);
      assert.match(text, /not here/);
    }));

  test("a case without a value breaks its line", () =>
    withPage(files.two, async (page) => {
      const plot = await drawn(page, page.locator(".plot[data-chart]").first());
      const { charts } = await dataOf(page);
      const { series } = charts[await plot.getAttribute("data-chart")];
      const gaps = series.map(({ points }) => points.findIndex(([, , value]) => value === undefined));
      assert.deepEqual(gaps, [-1, 1], "the second case of the second run is unsupported");
      const lines = await picture(plot).locator("[data-line]").evaluateAll((all) => all.map((path) => [path.dataset.line, path.getAttribute("d").split("L").length]));
      assert.deepEqual(lines, [["0.0", series[0].points.length], ["1.2", series[1].points.length - 2]], "a line to each side of the gap needs two points");
    }));

  test("no page scrolls sideways on a phone, however long a case's name is", async () => {
    for (const kind of ["firstLook", "one", "two", "search", "searched", "advised", "filesystems"]) {
      await withPage(files[kind], async (page) => {
        const width = await page.evaluate(() => {
          document.querySelectorAll("details").forEach((details) => (details.open = true));
          document.querySelectorAll(".code > p, .answers .way, .overview .copy, figcaption").forEach((node) => (node.textContent = `io_uring,${"registered=both,".repeat(8)}`));
          return document.documentElement.scrollWidth;
        });
        assert.ok(width <= 390, `${kind}: ${width}`);
      }, { viewport: { width: 390, height: 844 } });
    }
  });

  test("a bar is as thick for a long name as for a short one", () =>
    withPage(files.search, async (page) => {
      const heights = await page.evaluate(() => {
        const [first] = document.querySelectorAll(".overview tr.case-row .copy");
        first.textContent = "a name in many lines ".repeat(20);
        return [...document.querySelectorAll(".overview .bar")].map((bar) => bar.getBoundingClientRect().height);
      });
      assert.equal(new Set(heights).size, 1, heights.join());
    }));

  test("a search has its finalists as bars, every other candidate as a mark, and all of them in a folded table", () =>
    withPage(files.searched, async (page) => {
      const { cases } = await dataOf(page);
      const [finalists, others, all] = [cases.filter((entry) => entry.goal !== undefined).length, cases.filter((entry) => entry.other).length, cases.length];
      assert.equal(await page.locator(".overview:not(.choices) .bar").count(), finalists);
      assert.ok(finalists > 1 && others > 30, `${finalists} finalists, ${others} others`);
      const strip = page.locator(".strip");
      assert.match(await strip.locator("th").textContent(), new RegExp(`^${others} candidates$`));
      const marks = await strip.locator("path").evaluateAll((paths) => paths.map((path) => [path.getAttribute("d").match(/M/g).length, path.style.getPropertyValue("--light")]));
      assert.equal(marks.reduce((sum, [count]) => sum + count, 0), others);
      assert.equal(new Set(marks.map(([, colour]) => colour)).size, 2, "of one sample and of two");
      await strip.locator(".scale").hover();
      assert.match(await strip.locator(".scale").getAttribute("title"), /,size=64KiB/);
      await strip.locator(".scale").click();
      await page.locator("#copied", { hasText: "Copied: writebench run" }).waitFor();
      const folded = page.locator("details", { hasText: "All candidates" }).last();
      assert.equal(await folded.locator("tbody tr").count(), 0);
      await folded.locator("summary").click();
      await folded.locator("tbody tr").first().waitFor();
      assert.match(await folded.locator("caption").textContent(), new RegExp(`${all} rows`));
      await page.locator("#filters summary").click();
      await page.locator("#words").fill("prepare=fallocate");
      assert.ok(Number((await strip.locator("th").textContent()).split(" ")[0]) < others);
    }));

  test("a search shows which choices matter, the first the most, and the times of each value", () =>
    withPage(files.searched, async (page) => {
      const shares = await page.locator(".choices .goal .quiet").allTextContents();
      assert.ok(shares.length > 2 && /^\d/.test(shares[0]), shares.join());
      const numbers = shares.map((share) => Number.parseFloat(share)).filter((share) => share >= 0.1);
      assert.deepEqual(numbers, numbers.toSorted((a, b) => b - a));
      const rows = await page.locator(".choices .case-row").evaluateAll((all) => all.map((row) => {
        const box = (name) => row.querySelector(name).getBoundingClientRect();
        return { words: row.textContent, scale: box(".scale").toJSON(), range: box(".range").toJSON(), middle: box(".middle").toJSON() };
      }));
      for (const { words, scale, range, middle } of rows.filter(({ scale }) => scale.width > 0)) {
        assert.match(words, /\d candidate.*s/);
        assert.ok(scale.left <= range.left && range.right <= scale.right + 3 && range.left <= middle.right && middle.left <= range.right, words);
      }
    }));

  test("records have their own scale", () =>
    withPage(files.one, async (page) => {
      await page.locator("#filters summary").click();
      await page.locator("#words").fill("sync=fsync/1");
      const longest = await page.locator(".overview tbody", { has: page.locator(".axis", { hasText: "records/s" }) }).first().evaluate((body) =>
        Math.max(...[...body.querySelectorAll(".bar")].map((bar) => bar.offsetWidth / bar.parentElement.clientWidth)));
      assert.ok(longest > 0.4, `${longest}`);
    }));

  test("a run of records alone has their unit on its axis and beside its bars", async () => {
    const records = timed(workplace.measured("--case", "write,size=256KiB,chunk=4KiB,sync=fsync/1", "--samples", "1"), 6);
    await withPage(workplace.page("records.html", workplace.exported("records.json", copyOf(records, "records"))), async (page) => {
      assert.match(await page.locator(".overview .axis .figure").first().textContent(), /^records\/s/);
      const value = Number(/^[\d.]+/.exec(await page.locator(".overview .case-row td.figure").first().textContent())[0]);
      const last = Number((await page.locator(".overview .ticks span").allTextContents()).at(-1));
      assert.ok(value > last / 10 && value <= last, `${value} on an axis up to ${last}`);
    });
  });

  for (const [name, viewport] of [["a screen", { width: 1280, height: 900 }], ["a phone", { width: 390, height: 844 }]]) {
    test(`no labels of the final's chart overlap on ${name}, however long its names are`, () =>
      withPage(files.search, async (page) => {
        const plot = await drawn(page, page.locator(".section .plot").first());
        const boxes = (selector) => picture(plot).locator(selector).evaluateAll((all) => all.map((shape) => shape.getBoundingClientRect().toJSON()));
        const rows = await picture(plot).locator(".wb-row").evaluateAll((all) => all.map((row) => {
          const box = (node) => node.getBoundingClientRect().toJSON();
          // The value comes first.
          const [value, ...names] = row.querySelectorAll(":scope > text");
          return { names: names.map(box), words: names.map((name) => name.textContent).join(""), value: box(value), bar: box(row.querySelector("rect")) };
        }));
        assert.equal(rows.length, FINALISTS.length);
        assert.ok(rows.some(({ names }) => names.length > 1) || viewport.width < 500, "some names have several lines");
        for (const { words } of rows) assert.ok(!words.includes("…"), words);
        const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2;
        const labels = rows.flatMap(({ names, value }) => [...names, value]);
        labels.forEach((label, index) => labels.slice(index + 1).forEach((other) => assert.ok(!meets(label, other), JSON.stringify([label, other]))));
        for (const { names, bar } of rows) assert.ok(names.every((name) => name.right <= bar.left || name.bottom <= bar.top + 3), "names are before or above the bars");
        const figures = await boxes(".wb-foot text.wb-quiet");
        const apart = (sorted, end, begin) => sorted.slice(1).every((box, index) => sorted[index][end] <= box[begin]);
        assert.ok(figures.length > 2 && apart(figures.toSorted((a, b) => a.left - b.left), "right", "left"), JSON.stringify(figures));
      }, { viewport }));
  }

  test("cases with one sample are below cases with more", async () => {
    const once = copyOf(run, "once");
    const [first] = once.cases;
    first.samples = [{ ...first.samples[0], disturbed_by: null }];
    for (const phase of Object.keys(first.samples[0].phases_ns)) first.samples[0].phases_ns[phase] = Math.ceil(first.samples[0].phases_ns[phase] / 100);
    workplace.exported("once.json", once);
    await withPage(workplace.page("once.html", workplace.file("once.json")), async (page) => {
      const more = page.locator(".overview .more button");
      while ((await more.count()) > 0) await more.first().click();
      const goals = await page.evaluate(() => {
        const goals = [];
        for (const row of document.querySelectorAll(".overview tr")) {
          if (row.matches(".goal")) goals.push([]);
          if (row.matches(".case-row")) goals.at(-1).push(row.querySelector(".figure .quiet").textContent === "one sample");
        }
        return goals;
      });
      assert.ok(goals.some((rows) => rows.includes(true) && rows.includes(false)), JSON.stringify(goals));
      for (const rows of goals) assert.ok(!rows.slice(rows.indexOf(true)).includes(false) || !rows.includes(true), JSON.stringify(goals));
    });
  });

  test("a finger scrolls past a chart", () =>
    withPage(files.one, async (page) => {
      const plot = await drawn(page, page.locator(".plot").first());
      const touch = await picture(plot).evaluate((svg) => [svg, svg.parentElement].map((node) => getComputedStyle(node).touchAction));
      assert.deepEqual(touch, ["auto", "auto"]);
    }, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }));

  test("two runs are side by side with ratios and verdicts", () =>
    withPage(files.two, async (page) => {
      assert.match(await page.locator("#comparison h3").textContent(), /B: after vs. A: before/);
      await drawn(page, page.locator("[data-ratios]"));
      const table = tables(page, "compared");
      await table.scrollIntoViewIfNeeded();
      const columns = await table.locator("thead th").allTextContents();
      assert.deepEqual(columns, ["case", "A", "B", "B / A"]);
      const ratio = columns.indexOf("B / A");
      for (const row of (await table.locator("tbody tr").all()).slice(0, 20)) {
        const cells = await row.locator("th, td").allTextContents();
        assert.ok(Math.abs(Number(cells[ratio]) - 0.5) < 0.01, cells.join(" | "));
      }
      const legends = (await dataOf(page)).charts.flatMap((chart) => chart.series.map((series) => series.name));
      assert.ok(legends.some((name) => name.startsWith("after · ")) && legends.some((name) => name.startsWith("before · ")), legends.slice(0, 5).join());
      const beside = page.locator(".beside", { has: page.locator("figure:nth-child(2)") }).first();
      const ranges = [];
      for (const plot of await beside.locator(".plot").all()) {
        await drawn(page, plot);
        ranges.push((await axisOf(plot)).join() || (await picture(plot).locator(".wb-foot text").allTextContents()).join());
      }
      assert.ok(ranges.length === 2 && ranges[0] === ranges[1], ranges.join(" | "));
      await page.locator("#filters summary").click();
      await setting(page, "run", "after").uncheck();
      assert.match(await page.locator("#shown").textContent(), new RegExp(`^${run.cases.length} of ${2 * run.cases.length} cases`));
    }));

  test("foreign names are shown, and never run", () =>
    withPage(files.hostile, async (page) => {
      for (const plot of (await page.locator(".plot").all()).slice(0, 8)) await drawn(page, plot);
      assert.equal(await page.locator("img").count(), 0);
      assert.equal(await page.locator("body script").count(), 3);
      assert.ok((await page.locator("#answers").textContent()).includes("</script><script>alert(1)"), "as it is, in words");
      const table = tables(page, "troubled");
      await table.scrollIntoViewIfNeeded();
      assert.ok((await table.textContent()).includes("onerror=alert(2)"));
      const table2 = tables(page, "cases").first();
      await table2.scrollIntoViewIfNeeded();
      await table2.locator(".copy").first().click();
      assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^writebench run ["'][\s\S]*--case /);
    }));

  test("on a phone only scrolling parts are wider than the screen", () =>
    withPage(files.two, async (page) => {
      for (const plot of (await page.locator(".plot").all()).slice(0, 6)) await drawn(page, plot);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${wide} pixels too wide`);
    }, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }));

  test("printed, it has all charts and tables, in light colours", () =>
    withPage(files.one, async (page) => {
      const plots = page.locator(".section .plot");
      const arranged = page.locator(".section .plot.drawn");
      const folded = await page.locator("details.more:not([open])").count();
      const before = await arranged.count();
      const pdf = await page.pdf({ format: "A4" });
      assert.ok(pdf.length > 100_000, `${pdf.length} bytes`);
      assert.ok(before < (await plots.count()), "not all of them were filtered before");
      assert.equal(await arranged.count(), await plots.count(), "what is folded, too");
      assert.equal(await page.locator("details.more:not([open])").count(), folded, "and folded again");
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      const text = picture(await drawn(page, plots.first())).locator("text:not([class])").first();
      assert.equal(await text.evaluate((node) => getComputedStyle(node).fill), "rgb(31, 35, 40)");
    }, { colorScheme: "dark" }));
});
