// Sortable tables of all values, with commands. Long tables are shown in parts.

const FIRST_ROWS = 100;
const MORE_ROWS = 1000;

const time = (ns) => (ns === undefined ? undefined : ns / 1e9);

// `value` sorts the column, `text` shows it.
function column(heading, value, text, more = {}) {
  return { heading, value, text, ...more };
}

const caseColumn = column("case", (entry) => entry.case, (entry) => copyButton(entry), { isName: true });
const labelColumn = column("name", (entry) => entry.label ?? "", (entry) => entry.label ?? "", { isText: true });
const placeColumns = [
  ...(severalRuns ? [column("run", (entry) => entry.run, (entry) => entry.run, { isText: true })] : []),
  ...(severalTargets ? [column("target", (entry) => entry.target, (entry) => entry.target, { isText: true })] : []),
];
const outcomeColumn = column("outcome", (entry) => entry.outcome, (entry) => entry.outcome, { isText: true });

const ofFigures = (heading, value, text) =>
  column(heading, (entry) => entry.figures && value(entry.figures), (entry) => (entry.figures && value(entry.figures) !== undefined ? text(value(entry.figures), entry.figures) : ""));

const FIGURE_COLUMNS = [
  ofFigures("throughput", (figures) => figures.throughput[0], perSecond),
  ofFigures("95% CI", (figures) => figures.throughput[1], (_, figures) => interval(figures, figures.throughput[1], figures.throughput[2], perSecond)),
  ofFigures("of limit", (figures) => figures.share, percent),
  ofFigures("files/s", (figures) => figures.files, (value) => Math.round(value).toLocaleString("en")),
  ofFigures("records/s", (figures) => figures.records, (value) => Math.round(value).toLocaleString("en")),
  ofFigures("elapsed", (figures) => figures.elapsed, nanoseconds),
  ...PHASES.map((phase, index) => ofFigures(phase, (figures) => figures.phases[index], (ns) => (ns > 0 ? nanoseconds(ns) : "0"))),
  ...["p50", "p90", "p99", "p99.9", "longest"].map((name, index) => ofFigures(name, (figures) => figures.latency?.[index] ?? undefined, nanoseconds)),
  ofFigures("user CPU", (figures) => figures.user, (ns) => (ns > 0 ? nanoseconds(ns) : "0")),
  ofFigures("system CPU", (figures) => figures.system, (ns) => (ns > 0 ? nanoseconds(ns) : "0")),
  ofFigures("samples", (figures) => figures.samples, (value, figures) => `${value}${figures.disturbed && !figures.all_disturbed ? ` + ${figures.disturbed} disturbed` : figures.all_disturbed ? " (disturbed)" : ""}`),
];

function caseTable(number) {
  const [suite, section] = data.sections[number];
  const isSearch = suite === "advise";
  const all = cases.filter((entry) => (isSearch ? entry.suite === suite : entry.section === number));
  const rows = () => all.filter((entry) => filters.shown[entry.row]);
  const used = FIGURE_COLUMNS.filter((column) => all.some((entry) => column.text(entry) !== "" && column.value(entry) !== 0));
  const labels = !isSearch && all.some((entry) => entry.label) ? [labelColumn] : [];
  return { caption: isSearch ? "All candidates, and all finalists" : `All cases of ${suite}, ${section}`, columns: [caseColumn, ...labels, ...placeColumns, ...used, outcomeColumn], rows };
}

function troubledTable() {
  const rows = () => cases.filter((entry) => entry.outcome !== "ok" && filters.shown[entry.row]);
  const cause = column("cause", (entry) => entry.reason ?? "", (entry) => entry.reason ?? "", { isText: true });
  const good = column("good samples", (entry) => entry.figures?.samples ?? 0, (entry) => `${entry.figures?.samples ?? 0}`);
  return {
    caption: "Cases without a good last sample",
    columns: [caseColumn, ...placeColumns, { ...outcomeColumn, isFault: true }, cause, good], rows,
  };
}

function comparedTable(number) {
  const compared = data.comparisons[number];
  const ofPair = (heading, value, text) => column(heading, ({ pair }) => value(pair), ({ pair }) => text(value(pair), pair));
  const rows = () =>
    compared.cases
      .filter(({ rows: [a, b] }) => filters.shown[a] || filters.shown[b])
      .map((pair) => ({ ...cases[pair.rows[1]], pair }));
  return {
    caption: `B: ${data.runs[compared.b].name} vs. A: ${data.runs[compared.a].name}`,
    columns: [
      caseColumn,
      ...(severalTargets ? [column("target", (entry) => entry.target, (entry) => entry.target, { isText: true })] : []),
      ofPair("A", (pair) => pair.bytes_per_s[0], perSecond),
      ofPair("B", (pair) => pair.bytes_per_s[1], perSecond),
      ofPair("B / A", (pair) => pair.ratio, (value) => value.toFixed(3)),
    ],
    rows,
  };
}

// Ticks of seconds and percentiles are not places of points.
function placesOf(chart, series) {
  const { scale, ticks } = chart.x;
  if (scale === "categories" || scale === "log2") return ticks;
  const places = new Map();
  for (const point of series.flatMap(({ points }) => points)) if (!places.has(point.x)) places.set(point.x, point.text);
  return [...places].sort(([a], [b]) => a - b).map(([at, text]) => [at, text ?? placeText(chart, at)]);
}

// Samples have intervals that differ by microseconds, and their own longest call: align the rows.
function aligned(chart, series) {
  const { scale } = chart.x;
  if (scale === "linear") {
    const first = series.reduce((one, other) => (other.points.length > one.points.length ? other : one), { points: [] });
    return series.map(({ name, points }) => ({ name, points: points.map((point, index) => ({ ...point, x: first.points[index].x })) }));
  }
  if (scale === "percentile") {
    const last = (points) => points.map((point, index) => (index === points.length - 1 ? { ...point, x: Infinity, text: "the longest" } : point));
    return series.map(({ name, points }) => ({ name, points: last(points) }));
  }
  return series;
}

// Rows are places, columns are series.
function chartTable(number) {
  const chart = data.charts[number];
  const series = aligned(chart, shownSeries(chart));
  const isSideways = chart.kind === "heat-map";
  const places = placesOf(chart, series);
  const byPlace = series.map(({ points }) => new Map(points.map((point) => [point.x, point])));
  const cellText = (point) => {
    if (point === undefined) return "";
    if (!point.has) return `none: ${cases[point.row].outcome}`;
    if (point.words !== undefined) return point.words;
    const range = point.low === point.high ? "" : ` (${valueText(point.low, chart.y.unit)} – ${valueText(point.high, chart.y.unit)})`;
    return valueText(point.median, chart.y.unit) + range;
  };
  const caption = document.querySelector(`[data-chart="${number}"]`).closest("figure").querySelector("figcaption strong").textContent;
  const used = places.filter(([at]) => byPlace.some((pointAt) => pointAt.has(at)));
  const head = (heading) => column(heading, (row) => row.order, (row) => row.name, { isName: true });
  if (isSideways) {
    const columns = used.map(([at, text]) => column(text, ({ points }) => points.get(at)?.median, ({ points }) => cellText(points.get(at))));
    const rows = () => series.map(({ name }, order) => ({ name, order, points: byPlace[order] })).filter(({ points }) => points.size > 0);
    return { caption, columns: [head(""), ...columns], rows };
  }
  const columns = series.map(({ name }, index) => column(name, (row) => byPlace[index].get(row.at)?.median, (row) => cellText(byPlace[index].get(row.at))));
  return { caption, columns: [head(chart.x.label), ...columns.filter((_, index) => byPlace[index].size > 0)], rows: () => used.map(([at, name], order) => ({ at, name, order })) };
}

const TABLES = { cases: caseTable, troubled: troubledTable, compared: comparedTable, chart: chartTable };

function cell(column, row) {
  const name = column.isName ? "th" : "td";
  const kind = column.isFault && row.outcome !== "unsupported" && row.outcome !== "not-run" ? { class: "fault" } : column.isName || column.isText ? {} : { class: "figure" };
  return element(name, { ...(column.isName ? { scope: "row" } : {}), ...kind }, column.text(row));
}

function compare(a, b) {
  // Missing values are last in both directions.
  if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
  return typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
}

function heading(column, state, render) {
  const isSorted = state.by === column.heading;
  const button = element("button", { type: "button" }, column.heading);
  button.addEventListener("click", () => {
    state.direction = isSorted ? -state.direction : column.isName || column.isText ? 1 : -1;
    state.by = column.heading;
    render();
    // The old button is gone.
    [...state.host.querySelectorAll("thead button")].find((button) => button.textContent === column.heading)?.focus();
  });
  const sorted = isSorted ? { "aria-sort": state.direction > 0 ? "ascending" : "descending" } : {};
  const kind = column.isName || column.isText ? {} : { class: "figure" };
  if (column.heading === "") return element("td");
  return element("th", { scope: "col", ...sorted, ...kind }, button);
}

function sorted(rows, table, state) {
  const column = table.columns.find(({ heading }) => heading === state.by);
  if (!column) return rows;
  const value = (row) => column.value(row);
  return [...rows].sort((a, b) => {
    const [one, other] = [value(a), value(b)];
    return one === undefined || other === undefined ? compare(one, other) : state.direction * compare(one, other);
  });
}

function renderTable(state) {
  const { host, kind, number } = state;
  state.stale = false;
  const table = TABLES[kind](number);
  const rows = sorted(table.rows(), table, state);
  const shown = printing.now ? rows : rows.slice(0, state.limit);
  const render = () => renderTable(state);
  const made = element("table", {}, element("caption", {}, `${table.caption} (${counted(rows.length, "row")})`),
    element("thead", {}, element("tr", {}, ...table.columns.map((column) => heading(column, state, render)))),
    element("tbody", {}, ...shown.map((row) => element("tr", {}, ...table.columns.map((column) => cell(column, row))))));
  const scroll = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": table.caption }, made);
  // A guess for tables out of view, against jumps of the page.
  scroll.style.containIntrinsicHeight = `auto ${2 * (shown.length + 2)}rem`;
  const more = [];
  if (shown.length < rows.length) {
    const button = element("button", { type: "button", class: "plain" }, `Show ${Math.min(MORE_ROWS, rows.length - shown.length).toLocaleString("en")} more of ${counted(rows.length, "row")}`);
    button.addEventListener("click", () => {
      state.limit += MORE_ROWS;
      render();
    });
    more.push(button);
  }
  host.replaceChildren(scroll, ...more);
}

function buildTables() {
  const states = [...document.querySelectorAll("[data-table]")].map((host) => ({
    host, kind: host.dataset.table, number: Number(host.dataset.number), by: null, direction: 1, limit: FIRST_ROWS, stale: true,
  }));
  const byHost = new Map(states.map((state) => [state.host, state]));
  const seen = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const state = byHost.get(target);
        state.isNear = isIntersecting;
        if (isIntersecting && state.stale) renderTable(state);
      }
    },
    { rootMargin: "600px" },
  );
  states.forEach((state) => seen.observe(state.host));
  // Idle time renders the rest, except folded tables, for the browser's search.
  const later = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
  const rest = () => {
    const state = states.find((state) => state.stale && isVisible(state.host));
    if (!state) return;
    renderTable(state);
    later(rest);
  };
  filters.listeners.push(() => later(rest));
  filters.listeners.push(() => {
    for (const state of states) {
      state.stale = true;
      if (state.isNear) renderTable(state);
    }
  });
  addEventListener("beforeprint", () => states.filter((state) => isVisible(state.host)).forEach(renderTable));
  addEventListener("afterprint", () => states.filter((state) => isVisible(state.host)).forEach(renderTable));
}
