// One row for each case that has a rank, all on one scale that begins at 0: what is looked at first. It is a table, so
// that it is there before the library for charts is, and read by those who do not see it.

// So many cases have a row each without being asked for; of more, the fastest of each goal and plain write.
const ALL_CASES = 40;
const FASTEST = 5;
const FIRST_GOALS = 12;
const MORE_CASES = 200;
// An interval may be that many times as long as the longest bar.
const WIDEST = 1.3;

// Goals that are open, with how many of their cases; and how many goals.
const opened = { cases: new Map(), goals: FIRST_GOALS };

const gigabytes = (bytesPerSecond) => {
  const value = bytesPerSecond / 1e9;
  return value >= 0.9995 || value === 0 ? significant(value) : Number(value.toPrecision(3)).toFixed(Math.min(9, 2 - Math.floor(Math.log10(value))));
};

// What is measured side by side: each run and each target.
const seriesNames = [...new Set(cases.filter((entry) => entry.goal !== undefined).map(place))];

// A case with its figures, one of each series.
function rankedRows(goal, list) {
  const rows = new Map();
  for (const entry of list) {
    const row = rows.get(entry.case) ?? { name: entry.case, lanes: new Map() };
    // The same case may stand in several tables.
    if (!row.lanes.has(place(entry))) row.lanes.set(place(entry), entry);
    rows.set(entry.case, row);
  }
  const best = (row) => most([...row.lanes.values()].map((entry) => entry.figures.throughput[0]));
  // One sample is a first impression, and stands below what was measured again.
  const isOnce = (row) => [...row.lanes.values()].every((entry) => entry.figures.samples === 1);
  const sorted = [...rows.values()].map((row) => ({ ...row, best: best(row) })).sort((a, b) => isOnce(a) - isOnce(b) || b.best - a.best);
  return { goal, rows: sorted, isPlain: (row) => [...row.lanes.values()].some((entry) => entry.plain) };
}

function rankedGoals() {
  const byGoal = new Map();
  for (const entry of cases) {
    if (entry.goal === undefined || !filters.shown[entry.row]) continue;
    if (!byGoal.has(entry.goal)) byGoal.set(entry.goal, []);
    byGoal.get(entry.goal).push(entry);
  }
  return [...byGoal].map(([goal, list]) => rankedRows(goal, list));
}

// The figure at the end of the axis. Copies may share blocks, which is as fast as you like, and bends the scale for none.
function axisEnd(goals) {
  const written = goals.filter(({ goal }) => !data.goals[goal].is_copy);
  const lanes = (written.length > 0 ? written : goals).flatMap(({ rows }) => rows.flatMap((row) => [...row.lanes.values()]));
  const longest = most(lanes.map((entry) => entry.figures.throughput[0]));
  return Math.min(most(lanes.map((entry) => entry.figures.throughput[2])), WIDEST * longest) * 1.02;
}

const percentOf = (value, end) => `${Math.min(100, (value / end) * 100).toFixed(2)}%`;

function styled(made, properties) {
  for (const [name, value] of Object.entries(properties)) made.style.setProperty(name, value);
  return made;
}

function coloured(made, number) {
  const [light, dark] = data.colours[number % data.colours.length];
  return styled(made, { "--light": light, "--dark": dark });
}

function lane(entry, plain, end) {
  const [median, low, high] = entry.figures.throughput;
  const bar = styled(element("span", { class: median > end ? "bar beyond" : "bar" }), { width: percentOf(median, end) });
  const parts = [bar];
  if (high > low) parts.push(styled(element("span", { class: "interval" }), { left: percentOf(low, end), width: percentOf(Math.min(high, end) - Math.min(low, end), end) }));
  if (plain && plain !== entry) parts.push(styled(element("span", { class: "plain-write" }), { left: percentOf(plain.figures.throughput[0], end) }));
  const cell = element("td", { class: "scale", title: caseLines(entry).join("\n").replace(/<br>/g, " ").replace(/<[^>]*>/g, "") }, ...parts);
  cell.addEventListener("click", () => copyCommand(entry));
  return cell;
}

function figureCell(entry) {
  const [median, low, high] = entry.figures.throughput;
  const range = entry.figures.samples === 1 ? "one sample" : interval(entry.figures, low, high, gigabytes);
  return element("td", { class: "figure" }, gigabytes(median), " ", element("span", { class: "quiet" }, range));
}

function wayButton(entry, isPlain) {
  const button = element("button", { type: "button", class: "copy", title: `Copy: ${entry.command}` }, entry.way);
  button.addEventListener("click", () => copyCommand(entry));
  return isPlain ? [button, element("span", { class: "quiet" }, " (plain write)")] : [button];
}

function caseRows(ranked, row, plains, end, colour) {
  return [...row.lanes].map(([name, entry], index) => {
    const lanes = row.lanes.size;
    const head = index > 0 ? [] : [element("th", { scope: "row", rowspan: lanes }, ...wayButton(entry, ranked.isPlain(row)))];
    const series = seriesNames.length > 1 ? [element("td", { class: "where", title: name }, name)] : [];
    const made = element("tr", { class: index === 0 ? "case-row" : "" }, ...head, ...series, lane(entry, plains.get(name), end), figureCell(entry));
    return coloured(made, seriesNames.length > 1 ? seriesNames.indexOf(name) : colour);
  });
}

// All cases of a goal in one line, where there is no row for each.
function strip(rows, end, colour) {
  const all = rows.flatMap((row) => [...row.lanes.values()].map((entry) => entry.figures.throughput[0]));
  const marks = all.map((value) => `M${((Math.min(value, end) / end) * 1000).toFixed(1)} 0v10`);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 1000 10");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", marks.join(""));
  svg.append(path);
  const range = `${gigabytes(least(all))} – ${gigabytes(most(all))}`;
  const series = seriesNames.length > 1 ? [element("td", { class: "where" }, "all")] : [];
  const line = element("tr", { class: "strip case-row" },
    element("th", { scope: "row" }, `all ${counted(rows.length, "case")}`), ...series,
    element("td", { class: "scale" }, svg), element("td", { class: "figure" }, element("span", { class: "quiet" }, range)));
  return series.length > 0 ? line : coloured(line, colour);
}

function goalBody(ranked, index, isShort, end) {
  const { goal, rows } = ranked;
  const columns = seriesNames.length > 1 ? 4 : 3;
  const limit = isShort ? opened.cases.get(goal) ?? FASTEST : rows.length;
  const plainRow = rows.find(ranked.isPlain);
  const plains = plainRow?.lanes ?? new Map();
  const shown = rows.filter((row, rank) => rank < limit || row === plainRow);
  const body = element("tbody", {},
    coloured(element("tr", { class: seriesNames.length > 1 ? "goal" : "goal swatched" }, element("th", { scope: "rowgroup", colspan: columns }, data.goals[goal].text)), index),
    ...(shown.length < rows.length ? [strip(rows, end, index)] : []),
    ...shown.flatMap((row) => caseRows(ranked, row, plains, end, index)));
  const left = rows.length - shown.length;
  if (left > 0) {
    const text = left > MORE_CASES ? `Show ${MORE_CASES} of ${counted(left, "slower case")}` : `Show ${counted(left, "slower case")}`;
    body.append(moreRow(columns, text, () => opened.cases.set(goal, limit + MORE_CASES)));
  }
  return body;
}

function moreRow(columns, text, open) {
  const button = element("button", { type: "button", class: "plain" }, text);
  button.addEventListener("click", () => {
    open();
    renderOverview();
  });
  return element("tr", { class: "more" }, element("td", { colspan: columns }, button));
}

function scaleHeading(end) {
  // About five steps of a round value.
  const [step] = data.ticks["B/s"][1].find(([value]) => value >= (end / 5) * 0.999);
  const ticks = Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => index * step);
  // The same number of digits on all of them.
  const digits = Math.max(0, -Math.floor(Math.log10(step / 1e9) + 1e-9));
  const marks = ticks.map((value) => styled(element("span", {}, value === 0 ? "0" : (value / 1e9).toFixed(digits)), { left: percentOf(value, end) }));
  const heads = [
    element("th", { scope: "col", class: "name" }, "case"),
    ...(seriesNames.length > 1 ? [element("th", { scope: "col", class: "where" }, "on")] : []),
    element("th", { scope: "col", class: "scale" }, element("span", { class: "hidden" }, "GB/s from 0, in a picture"), element("span", { "aria-hidden": "true", class: "ticks" }, ...marks)),
    element("th", { scope: "col", class: "figure" }, "GB/s ", element("span", { class: "quiet" }, "interval")),
  ];
  return { head: element("thead", {}, element("tr", {}, ...heads)), step };
}

function legend() {
  const names = seriesNames.length > 1 ? seriesNames : [];
  const swatches = names.map((name, index) => coloured(element("span", { class: "swatch" }, name), index));
  return [...swatches, ...(cases.some((entry) => entry.plain) ? [element("span", { class: "swatch-line" }, "plain write")] : [])];
}

function renderOverview() {
  const host = document.getElementById("overview-rows");
  const goals = rankedGoals();
  if (goals.length === 0) return host.replaceChildren(element("p", { class: "quiet" }, "No case has a rank: the filters leave none, or none has a good sample."));
  const end = axisEnd(goals);
  const { head, step } = scaleHeading(end);
  const count = goals.reduce((sum, { rows }) => sum + rows.length, 0);
  const table = element("table", { class: "overview" }, element("caption", { class: "hidden" }, "Throughput of all cases that have a rank"), head,
    ...goals.slice(0, opened.goals).map((ranked, index) => goalBody(ranked, index, count > ALL_CASES, end)));
  if (goals.length > opened.goals) {
    table.append(element("tbody", {}, moreRow(seriesNames.length > 1 ? 4 : 3, `Show ${counted(goals.length - opened.goals, "more goal")}`, () => (opened.goals = goals.length))));
  }
  styled(table, { "--step": percentOf(step, end) });
  table.dataset.end = end;
  host.replaceChildren(element("p", { class: "legend" }, ...legend()), table);
}

filters.listeners.push(renderOverview);
