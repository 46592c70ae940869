// Filters the drawings of charts. Each chart has a wide and a narrow drawing with the same keys. Most narrow ones are not
// needed, nor wide ones far below in a large page, so they are packed, and become a part of the page where they are seen.

// More are illegible.
const MOST_ROWS = 60;
const MOST_LINES = 24;

const printing = { now: false };
const isVisible = (node) => node.checkVisibility();

// The charts of the page, by their elements.
const plots = new Map();

const keyOf = (text) => text.split(".").map(Number);

// What a chart knows of a key: the case's row, whether filters leave it, whether it has a value, and its words.
function subjectOf(host) {
  if (host.dataset.chart !== undefined) return chartSubject(data.charts[host.dataset.chart]);
  const compared = data.comparisons[host.dataset.ratios].cases;
  return {
    kind: "ratios",
    counts: [compared.length],
    row: ([, number]) => compared[number].rows[1],
    isChosen: ([, number]) => compared[number].rows.some((row) => filters.shown[row]),
    hasValue: () => true,
    lines: ([, number]) => pairLines(compared[number]),
  };
}

function chartSubject(chart) {
  const row = ([series, number]) => chart.series[series].points[number][1];
  return {
    kind: chart.kind,
    counts: chart.series.map(({ points }) => points.length),
    row,
    isChosen: (key) => filters.shown[row(key)],
    hasValue: ([series, number]) => pointOf(chart.series[series].points[number]).has,
    lines: ([series, number]) => pointLines(chart, chart.series[series], number),
  };
}

// `hidden` are the series whose names in the legend were clicked. `has` tells which drawings are there or on their way:
// the narrow one is `true`.
function plotOf(host) {
  const legend = [...host.closest("figure").querySelectorAll(".series button")];
  const drawings = [...host.querySelectorAll(":scope > svg")].map(drawingOf);
  const has = new Set(drawings.length > 0 ? [false] : []);
  return { host, subject: subjectOf(host), legend, hidden: new Set(), drawings, has, isStale: true };
}

// The parts that filters change, as they were drawn.
function drawingOf(svg) {
  const all = (selector) => [...svg.querySelectorAll(selector)];
  return {
    svg,
    height: svg.viewBox.baseVal.height,
    groups: all("[data-series]").map((node) => ({ node, series: Number(node.dataset.series) })),
    marks: all("[data-point]").map((node) => ({ node, key: keyOf(node.dataset.point) })),
    paths: all("[data-line], [data-band]").map(pathOf),
    rows: all(":scope > .wb-row"),
    foot: svg.querySelector(":scope > .wb-foot"),
    grid: all(".wb-lines path").map((node) => ({ node, lines: node.getAttribute("d") })),
  };
}

// A line has a corner per point. A band has those of the upper ends, and back those of the lower ends.
function pathOf(node) {
  const isBand = node.dataset.band !== undefined;
  const [series, first] = keyOf(node.dataset.line ?? node.dataset.band);
  const corners = node.getAttribute("d").replace(/^M|Z$/g, "").split("L");
  const count = isBand ? corners.length / 2 : corners.length;
  const number = (index) => first + (index < count ? index : 2 * count - 1 - index);
  return { node, isBand, corners: corners.map((place, index) => ({ place, key: [series, number(index)] })) };
}

function numbersUpTo(count) {
  return Array.from({ length: count }, (_, number) => number);
}

// The series with a value that filters leave.
function chosenSeries({ counts, isChosen, hasValue }) {
  return numbersUpTo(counts.length).filter((series) => numbersUpTo(counts[series]).some((number) => isChosen([series, number]) && hasValue([series, number])));
}

function arrange(plot) {
  const { host, subject, legend, hidden, drawings } = plot;
  plot.isStale = false;
  host.classList.add("drawn");
  const chosen = chosenSeries(subject);
  legend.forEach((button, series) => {
    button.parentElement.hidden = !chosen.includes(series);
    button.setAttribute("aria-pressed", `${!hidden.has(series)}`);
  });
  const left = chosen.filter((series) => !hidden.has(series));
  const shown = subject.kind === "lines" ? drawnOf(drawings[0], left).slice(0, MOST_LINES) : left;
  drawings.forEach((drawing) => arrangeDrawing(drawing, subject, new Set(shown)));
  const more = subject.kind === "lines" ? counted(left.length - shown.length, "more line") : counted(chosenRows(plot) - shownRows(drawings[0]), "more case");
  say(plot, left.length === 0, more);
}

function drawnOf({ groups }, wanted) {
  const drawn = new Set(groups.map(({ series }) => series));
  return wanted.filter((series) => drawn.has(series));
}

function arrangeDrawing(drawing, subject, shown) {
  const isLeft = (key) => subject.isChosen(key) && shown.has(key[0]);
  drawing.groups.forEach(({ node, series }) => node.classList.toggle("left-out", !shown.has(series)));
  // Marks without a value are crosses of a heat map, and rows without parts.
  drawing.marks.forEach(({ node, key }) => node.classList.toggle("left-out", !subject.isChosen(key)));
  drawing.paths.forEach((path) => reduce(path, isLeft));
  closeUp(drawing);
}

// A line without some corners connects those around them.
function reduce(path, isLeft) {
  path.kept = path.corners.filter(({ key }) => isLeft(key));
  const places = path.kept.map(({ place }) => place);
  const fewest = path.isBand ? 4 : 2;
  path.node.setAttribute("d", places.length < fewest ? "" : `M${places.join("L")}${path.isBand ? "Z" : ""}`);
}

// Rows without a mark disappear. Those below them move up, and so does the foot.
function closeUp({ svg, height, rows, foot, grid }) {
  if (rows.length === 0) return;
  const rowHeight = Number(foot.dataset.rowHeight);
  let shown = 0;
  rows.forEach((row, index) => {
    const isShown = shown < MOST_ROWS && row.querySelector("[data-point]:not(.left-out)") !== null;
    row.classList.toggle("left-out", !isShown);
    moveUp(row, rowHeight * (index - shown));
    if (isShown) shown += 1;
  });
  const free = rowHeight * (rows.length - shown);
  moveUp(foot, free);
  grid.forEach(({ node, lines }) => node.setAttribute("d", lines.replace(/(?<=V)[\d.]+/g, (end) => (end - free).toFixed(1))));
  svg.setAttribute("viewBox", `0 0 ${svg.viewBox.baseVal.width} ${height - free}`);
}

function moveUp(node, by) {
  if (by > 0) node.setAttribute("transform", `translate(0 ${-by})`);
  else node.removeAttribute("transform");
}

const shownRows = ({ rows }) => rows.filter((row) => !row.classList.contains("left-out")).length;

// Also cases beyond the drawing.
function chosenRows({ subject: { kind, counts, isChosen }, drawings: [{ rows }] }) {
  if (rows.length === 0) return 0;
  const series = numbersUpTo(counts.length);
  if (kind === "heat-map") return series.filter((series) => numbersUpTo(counts[series]).some((number) => isChosen([series, number]))).length;
  // Each bar has a row.
  if (kind === "bars") return series.reduce((sum, series) => sum + numbersUpTo(counts[series]).filter((number) => isChosen([series, number])).length, 0);
  // Each series has a point per row.
  return numbersUpTo(most(counts)).filter((number) => series.some((series) => number < counts[series] && isChosen([series, number]))).length;
}

function say({ host, hidden }, isEmpty, more) {
  host.parentElement.querySelectorAll(":scope > .more-of-it").forEach((note) => note.remove());
  host.classList.toggle("empty", isEmpty);
  const note = (text) => host.after(element("p", { class: "quiet more-of-it" }, text));
  if (isEmpty) note(`Nothing to draw: the filters${hidden.size > 0 ? " and the legend" : ""} exclude all cases, or none has a result.`);
  else if (!more.startsWith("0 ")) note(`${more} not drawn. Filters select other cases, and the values have all.`);
}

// In pixels of style.css.
const NARROW = 640;

const packs = new Map();

function packOf(number) {
  if (!packs.has(number)) packs.set(number, unpacked(document.querySelectorAll(".pack")[number].textContent));
  return packs.get(number);
}

async function addDrawing(plot, isNarrow) {
  const { chart, ratios, pack } = plot.host.dataset;
  const drawings = (await packOf(pack))[chart ?? `r${ratios}`];
  plot.host.insertAdjacentHTML("beforeend", drawings[isNarrow ? 1 : 0]);
  plot.drawings.push(drawingOf(plot.host.querySelector(":scope > svg:last-of-type")));
  arrange(plot);
}

function arrangeIfSeen(plot) {
  if (!plot.isNear || !isVisible(plot.host)) return;
  const isNarrow = plot.host.clientWidth <= NARROW;
  if (!plot.has.has(isNarrow)) {
    plot.has.add(isNarrow);
    addDrawing(plot, isNarrow);
  } else if (plot.isStale && plot.drawings.length > 0) {
    arrange(plot);
  }
}

function buildPlot(host) {
  const plot = plotOf(host);
  plots.set(host, plot);
  plot.legend.forEach((button, series) =>
    button.addEventListener("click", () => {
      if (!plot.hidden.delete(series)) plot.hidden.add(series);
      arrange(plot);
    }),
  );
  explain(plot);
}

function buildCharts() {
  document.querySelectorAll(".plot").forEach(buildPlot);
  const seen = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const plot = plots.get(target);
        plot.isNear = isIntersecting;
        arrangeIfSeen(plot);
      }
    },
    { rootMargin: "400px" },
  );
  const resized = new ResizeObserver((entries) => entries.forEach(({ target }) => arrangeIfSeen(plots.get(target))));
  plots.forEach((_, host) => {
    seen.observe(host);
    resized.observe(host);
  });
  filters.listeners.push(() => {
    for (const plot of plots.values()) {
      plot.isStale = true;
      arrangeIfSeen(plot);
    }
  });
  buildPrinting();
}

// Paper has what is folded, too.
function buildPrinting() {
  let folded = [];
  addEventListener("beforeprint", () => {
    printing.now = true;
    folded = [...document.querySelectorAll("details.more:not([open])")];
    folded.forEach((details) => (details.open = true));
    plots.forEach((plot) => plot.isStale && plot.drawings.length > 0 && arrange(plot));
  });
  addEventListener("afterprint", () => {
    printing.now = false;
    folded.forEach((details) => (details.open = false));
  });
}
