// Tables behind the charts: all figures, sortable, with the command of each case. Long ones are shown in parts.

const FIRST_ROWS = 100;
const MORE_ROWS = 1000;

const time = (ns) => (ns === undefined ? undefined : ns / 1e9);

// A column: heading, the value that it is sorted by, and its text.
function column(heading, value, text, more = {}) {
  return { heading, value, text, ...more };
}

const caseColumn = column("case", (it) => it.case, (it) => copyButton(it), { isName: true });
const labelColumn = column("name", (it) => it.label ?? "", (it) => it.label ?? "", { isText: true });
const placeColumns = [
  ...(severalRuns ? [column("run", (it) => it.run, (it) => it.run, { isText: true })] : []),
  ...(severalTargets ? [column("target", (it) => it.target, (it) => it.target, { isText: true })] : []),
];
const outcomeColumn = column("outcome", (it) => it.outcome, (it) => it.outcome, { isText: true });

const ofFigures = (heading, value, text) =>
  column(heading, (it) => it.figures && value(it.figures), (it) => (it.figures && value(it.figures) !== undefined ? text(value(it.figures), it.figures) : ""));

const FIGURE_COLUMNS = [
  ofFigures("throughput", (it) => it.throughput[0], perSecond),
  ofFigures("interval", (it) => it.throughput[1], (_, it) => interval(it, it.throughput[1], it.throughput[2], perSecond)),
  ofFigures("of limit", (it) => it.share, percent),
  ofFigures("records/s", (it) => it.records, (value) => Math.round(value).toLocaleString("en")),
  ofFigures("elapsed", (it) => it.elapsed, nanoseconds),
  ...PHASES.map((phase, index) => ofFigures(phase, (it) => it.phases[index], (ns) => (ns > 0 ? nanoseconds(ns) : "0"))),
  ...["p50", "p90", "p99", "p99.9", "longest"].map((name, index) => ofFigures(name, (it) => it.latency?.[index], nanoseconds)),
  ofFigures("user CPU", (it) => it.user, (ns) => (ns > 0 ? nanoseconds(ns) : "0")),
  ofFigures("system CPU", (it) => it.system, (ns) => (ns > 0 ? nanoseconds(ns) : "0")),
  ofFigures("samples", (it) => it.samples, (value, it) => `${value}${it.disturbed && !it.only_disturbed ? ` + ${it.disturbed} disturbed` : it.only_disturbed ? " (disturbed)" : ""}`),
];

function caseTable(number) {
  const rows = () => cases.filter((it) => it.section === number && filters.shown[it.row]);
  const all = cases.filter((it) => it.section === number);
  // A column that no case of the section has says nothing.
  const used = FIGURE_COLUMNS.filter((column) => all.some((it) => column.text(it) !== "" && column.value(it) !== 0));
  const labels = all.some((it) => it.label) ? [labelColumn] : [];
  const [suite, section] = data.sections[number];
  return { caption: `All cases of ${suite}, ${section}`, columns: [caseColumn, ...labels, ...placeColumns, ...used, outcomeColumn], rows };
}

function troubledTable() {
  const rows = () => cases.filter((it) => it.outcome !== "ok" && filters.shown[it.row]);
  const cause = column("cause", (it) => it.reason ?? "", (it) => it.reason ?? "", { isText: true });
  const good = column("good samples", (it) => it.figures?.samples ?? 0, (it) => `${it.figures?.samples ?? 0}`);
  return {
    caption: "Cases whose last sample is no figure, and why",
    columns: [caseColumn, ...placeColumns, { ...outcomeColumn, isFault: true }, cause, good], rows,
  };
}

function comparedTable(number) {
  const compared = data.comparisons[number];
  const of = (heading, value, text) => column(heading, (it) => value(it.compared), (it) => text(value(it.compared), it.compared));
  const rows = () =>
    compared.cases
      .filter((it) => filters.shown[it.rows[0]] || filters.shown[it.rows[1]])
      .map((it) => ({ ...cases[it.rows[1]], compared: it }));
  return {
    caption: `B: ${data.runs[compared.b].name}, compared with A: ${data.runs[compared.a].name}`,
    columns: [
      caseColumn,
      ...(severalTargets ? [column("target", (it) => it.target, (it) => it.target, { isText: true })] : []),
      of("A", (it) => it.bytes_per_s[0], perSecond),
      of("B", (it) => it.bytes_per_s[1], perSecond),
      of("B / A", (it) => it.ratio, (value) => value.toFixed(3)),
    ],
    rows,
  };
}

// Every place that has a point. Ticks of seconds and of percentiles are others than those.
function placesOf(chart, series) {
  const { scale, ticks } = chart.x;
  if (scale === "categories" || scale === "log2") return ticks;
  const places = new Map();
  for (const point of series.flatMap((it) => it.points)) if (!places.has(point.x)) places.set(point.x, point.text);
  return [...places].sort(([a], [b]) => a - b).map(([at, text]) => [at, text ?? placeText(chart, at)]);
}

// The lines of several samples have intervals that differ by microseconds, and each its own longest call: the first and
// the last of them stand in one row all the same.
function aligned(chart, series) {
  const { scale } = chart.x;
  if (scale === "linear") {
    const first = series.reduce((one, other) => (other.points.length > one.points.length ? other : one), { points: [] });
    return series.map((it) => ({ ...it, points: it.points.map((point, index) => ({ ...point, x: first.points[index].x })) }));
  }
  if (scale === "percentile") {
    const last = (it) => it.points.map((point, index) => (index === it.points.length - 1 ? { ...point, x: Infinity, text: "the longest" } : point));
    return series.map((it) => ({ ...it, points: last(it) }));
  }
  return series;
}

// A row for each place, a column for each series.
function chartTable(number) {
  const chart = data.charts[number];
  const series = aligned(chart, shownSeries(chart));
  const isSideways = chart.kind === "heat-map";
  const places = placesOf(chart, series);
  const byPlace = series.map((it) => new Map(it.points.map((point) => [point.x, point])));
  const cellText = (point) => {
    if (point === undefined) return "";
    if (!point.has) return `none: ${cases[point.row].outcome}`;
    const range = point.low === point.high ? "" : ` (${valueText(point.low, chart.y.unit)} – ${valueText(point.high, chart.y.unit)})`;
    return valueText(point.median, chart.y.unit) + range;
  };
  const caption = document.querySelector(`[data-chart="${number}"]`).closest("figure").querySelector("figcaption strong").textContent;
  const used = places.filter(([at]) => byPlace.some((it) => it.has(at)));
  const head = (heading) => column(heading, (it) => it.order, (it) => it.name, { isName: true });
  if (isSideways) {
    const columns = used.map(([at, text]) => column(text, (it) => it.points.get(at)?.median, (it) => cellText(it.points.get(at))));
    const rows = () => series.map((it, order) => ({ name: it.name, order, points: byPlace[order] })).filter((it) => it.points.size > 0);
    return { caption, columns: [head(""), ...columns], rows };
  }
  const columns = series.map((it, index) => column(it.name, (row) => byPlace[index].get(row.at)?.median, (row) => cellText(byPlace[index].get(row.at))));
  return { caption, columns: [head(chart.x.label), ...columns.filter((_, index) => byPlace[index].size > 0)], rows: () => used.map(([at, name], order) => ({ at, name, order })) };
}

const TABLES = { cases: caseTable, troubled: troubledTable, compared: comparedTable, chart: chartTable };

function cell(column, it) {
  const name = column.isName ? "th" : "td";
  const kind = column.isFault && it.outcome !== "unsupported" && it.outcome !== "not-run" ? { class: "fault" } : column.isName || column.isText ? {} : { class: "figure" };
  return element(name, { ...(column.isName ? { scope: "row" } : {}), ...kind }, column.text(it));
}

function compare(a, b) {
  // What has no value comes last, however it is sorted.
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
    // The button was made anew.
    [...state.host.querySelectorAll("thead button")].find((it) => it.textContent === column.heading)?.focus();
  });
  const sorted = isSorted ? { "aria-sort": state.direction > 0 ? "ascending" : "descending" } : {};
  const kind = column.isName || column.isText ? {} : { class: "figure" };
  if (column.heading === "") return element("td");
  return element("th", { scope: "col", ...sorted, ...kind }, button);
}

function sorted(rows, table, state) {
  const column = table.columns.find((it) => it.heading === state.by);
  if (!column) return rows;
  const value = (it) => column.value(it);
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
    element("thead", {}, element("tr", {}, ...table.columns.map((it) => heading(it, state, render)))),
    element("tbody", {}, ...shown.map((it) => element("tr", {}, ...table.columns.map((column) => cell(column, it))))));
  const scroll = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": table.caption }, made);
  // Browsers lay out what is in view; for the rest they take this guess, so that the page does not jump.
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
  // The rest when there is time, so that a page can be searched; but for what is folded. The charts in view come first.
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
