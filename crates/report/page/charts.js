// Draws visible charts, and again for changed filters, colours or paper.

// Plotly's default buttons include one that sends the chart to its makers.
const CONFIG = {
  responsive: true, displaylogo: false, plotlyServerURL: "",
  modeBarButtons: [["toImage"], ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]],
};
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

const ink = () => pick(["#1f2328", "#e6edf3"]);
const grid = () => pick(["#dfe3e8", "#2b323b"]);
const paper = () => pick(["#ffffff", "#161b22"]);
// Plots, and whether they show the current filters.
const drawn = new Map();

function axis(title, more) {
  return {
    title: { text: plain(title), font: { size: 13 } }, gridcolor: grid(), linecolor: grid(), zerolinecolor: grid(),
    automargin: true, ...more,
  };
}

function layout(more) {
  return {
    font: { family: FONT, size: 12, color: ink() },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 60, r: 16, t: 32, b: 48 }, hovermode: "closest",
    hoverlabel: { align: "left", bgcolor: paper(), bordercolor: grid(), font: { color: ink(), size: 12 } },
    legend: { orientation: "h", x: 0, y: 1, yanchor: "bottom", traceorder: "normal", font: { size: 12 } },
    // A finger scrolls the page. Buttons zoom.
    dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
    modebar: { color: pick(["#59636e", "#9aa5b1"]), activecolor: ink(), bgcolor: "rgba(0,0,0,0)" },
    ...more,
  };
}

// Three or more of the roundest ticks, or Plotly's with units in a narrow view. A 0 has its own place.
function logTicks([from, to], unit, floor) {
  const inView = data.ticks[unit].map((ticks) => ticks.filter(([value]) => value >= from && value <= to));
  const ticks = inView.find((some) => some.length >= 3);
  if (!ticks) return { tickmode: "auto", tickformat: "~s", ticksuffix: unit };
  const all = floor === undefined ? ticks : [[floor, "0"], ...ticks];
  return { tickmode: "array", tickvals: all.map(([value]) => value), ticktext: all.map(([, text]) => text) };
}

// All charts of throughput, or others side by side.
function peersOf(chart, beside) {
  if (chart.y.unit !== "B/s") return beside.every((peer) => peer.kind === chart.kind && peer.y.unit === chart.y.unit) ? beside : [chart];
  return data.charts.filter((other) => other.kind === chart.kind && other.y.unit === "B/s" && (other.of === "over-time") === (chart.of === "over-time"));
}

// The common scale.
function scaleOf(peers) {
  const shown = peers.map(shownSeries);
  const isLog = peers.some((peer) => peer.y.scale === "log10");
  const values = peers.flatMap((peer, index) => extent(peer, shown[index]));
  const floors = peers.map((peer, index) => floorOf(peer, shown[index])).filter((floor) => floor !== undefined);
  const floor = floors.length > 0 ? least(floors) : undefined;
  // One wide interval must not shorten all bars.
  const bars = peers.flatMap((peer, index) => (peer.kind === "bars" ? shown[index].flatMap(({ points }) => points.map((point) => point.median ?? 0)) : []));
  const top = bars.length > 0 ? Math.min(most(values), 1.6 * most(bars)) : most(values);
  const range = isLog ? [floor === undefined ? least(values) / 1.3 : floor / 1.3, top * 1.3] : [0, top * 1.05];
  return { isLog, floor, range: isLog ? range.map(Math.log10) : range };
}

// Colours show medians without intervals.
function mediansRange(peers) {
  const medians = peers.flatMap(shownSeries).flatMap(({ points }) => points).filter((point) => point.has && point.median > 0).map((point) => point.median);
  return [least(medians), most(medians)];
}

// A linear axis has Plotly's ticks, which follow the zoom.
function figureAxis(chart, { isLog, floor, range }) {
  const { label, unit } = chart.y;
  const shared = { range, autorange: false };
  if (!isLog) return axis(label, { type: "linear", tickformat: "~s", ticksuffix: unit, ...shared });
  return axis(`${label} (logarithmic)`, { type: "log", ...logTicks(range.map((end) => 10 ** end), unit, floor), ...shared });
}

// Drops names that would touch the one before. A tooltip has them.
function apart(places, text, width) {
  const pixels = (from, to) => (Math.log(to / from) / Math.log(places.at(-1) / places[0])) * (width - 100);
  let last = 0;
  return text.map((name, index) => {
    if (index > 0 && pixels(places[last], places[index]) < 8 * name.length) return "";
    last = index;
    return name;
  });
}

function placeAxis(chart, width) {
  const { scale, label, ticks } = chart.x;
  const places = ticks.map(([at]) => at);
  const text = ticks.map(([, text]) => plain(text));
  switch (scale) {
    case "log2":
      return axis(label, { type: "log", tickvals: places, ticktext: apart(places, text, width), tickangle: 0 });
    case "linear":
      return axis(label, { type: "linear", rangemode: "tozero", ticksuffix: " s" });
    case "categories":
      return axis(label, { tickvals: places, ticktext: text, range: [-0.6, places.length - 0.4] });
    default:
      return axis(label, { tickvals: places, ticktext: text });
  }
}

// On a phone, names take at most half of the width.
const categoryTexts = (categories, width) => categories.shown.map(([, text]) => broken(text, width < 560 ? 18 : 36));

// Pixels per row, for the longest name.
function rowHeight(texts) {
  const lines = most(texts.map((text) => text.split("<br>").length));
  return Math.max(34, 16 * lines + 6);
}

function categoryAxis(categories, width) {
  const text = categoryTexts(categories, width);
  return axis("", {
    tickvals: text.map((_, index) => index), ticktext: text, autorange: false,
    range: [text.length - 0.4, -0.6], gridcolor: "rgba(0,0,0,0)", zeroline: false,
  });
}

// Traces, layout, height in pixels, and a note.
function picture(chart, peers, width) {
  const isNarrow = width < 900;
  const all = shownSeries(chart).filter(({ points }) => chart.kind !== "lines" || points.some((point) => point.has));
  const series = chart.kind === "lines" ? all.slice(0, MOST_LINES) : all;
  const count = series.reduce((sum, { points }) => sum + points.filter((point) => point.has).length, 0);
  if (count === 0) return { empty: true };
  const legendLines = Math.ceil(series.filter(({ points }) => points.length > 0).length / 3);
  // Our ticks are renewed after a zoom.
  const scale = scaleOf(peersOf(chart, peers));
  const ticked = scale.isLog ? { axis: "yaxis", unit: chart.y.unit, floor: scale.floor } : undefined;
  switch (chart.kind) {
    case "groups":
    case "lines": {
      const traces = chart.kind === "lines" ? lineTraces(chart, series, scale) : groupTraces(chart, series, scale);
      return { traces, layout: layout({ xaxis: placeAxis(chart, width), yaxis: figureAxis(chart, scale) }), height: 400 + 20 * legendLines, ticked, more: all.length - series.length, what: "line" };
    }
    case "heat-map": {
      const rows = series.filter(({ points }) => points.length > 0).length;
      return {
        traces: heatTraces(chart, series, mediansRange(peersOf(chart, peers)), isNarrow),
        layout: layout({ xaxis: axis(chart.x.label, { type: "category" }), yaxis: axis("", { type: "category", autorange: "reversed" }) }),
        height: 110 + 30 * rows,
      };
    }
    default: {
      const categories = shownCategories(series, chart);
      const stacked = chart.kind === "stacked";
      const traces = stacked ? stackTraces(chart, series, categories) : barTraces(chart, series, categories);
      const more = stacked ? { barmode: "stack" } : {};
      return {
        traces, layout: layout({ ...more, xaxis: { ...figureAxis(chart, scale), tickangle: 0, nticks: width < 560 ? 4 : 8 }, yaxis: categoryAxis(categories, width) }),
        height: 130 + rowHeight(categoryTexts(categories, width)) * Math.max(categories.shown.length, 2), more: categories.more,
      };
    }
  }
}

function ratioPicture(compared) {
  const traces = ratioTraces(compared);
  const rows = traces[0].customdata.length;
  if (rows === 0) return { empty: true };
  const names = traces[0].customdata.map((row) => broken(`${cases[row].case}${severalTargets ? ` on ${cases[row].target}` : ""}`, 36));
  const dense = rows > MOST_CATEGORIES;
  return {
    traces, height: dense ? 1000 : 130 + rowHeight(names) * Math.max(rows, 2),
    layout: layout({
      xaxis: axis("B / A (logarithmic)", { type: "log" }),
      yaxis: axis("", {
        tickvals: dense ? [] : names.map((_, index) => index), ticktext: names, autorange: false, range: [rows - 0.4, -0.6],
        gridcolor: "rgba(0,0,0,0)", zeroline: false,
      }),
      shapes: [{ type: "line", x0: 1, x1: 1, yref: "paper", y0: 0, y1: 1, line: { color: ink(), width: 1, dash: "dot" } }],
    }),
  };
}

function pictureOf(plot) {
  if (plot.dataset.chart === undefined) return ratioPicture(data.comparisons[plot.dataset.ratios]);
  const beside = plot.closest(".beside")?.querySelectorAll("[data-chart]") ?? [];
  const peers = [...beside].map((figure) => data.charts[figure.dataset.chart]);
  return picture(data.charts[plot.dataset.chart], peers, plot.clientWidth);
}

function say(plot, text) {
  plot.classList.add("empty");
  plot.replaceChildren(element("p", { class: "quiet" }, text));
}

// Only for the first chart: the library takes most of the time of a page.
function loadPlotly() {
  if (!window.Plotly) document.head.append(element("script", {}, document.getElementById("plotly").textContent));
}

function draw(plot) {
  loadPlotly();
  drawn.set(plot, true);
  const made = pictureOf(plot);
  plot.parentElement.querySelectorAll(":scope > .more-of-it").forEach((note) => note.remove());
  if (plot.data || plot.classList.contains("empty")) {
    Plotly.purge(plot);
    plot.replaceChildren();
    plot.classList.remove("empty");
  }
  if (made.empty) return say(plot, "Nothing to draw: the filters exclude all cases, or none has a result.");
  const settled = { ...made.layout, height: made.height };
  // On a phone, axes take only the width of their texts.
  if (plot.clientWidth < 560) settled.margin = { l: 8, r: 8, t: 32, b: 40 };
  plot.classList.add("drawn");
  Plotly.newPlot(plot, made.traces, settled, CONFIG);
  if (made.ticked) plot.on("plotly_relayout", (change) => tickAgain(plot, made.ticked, change));
  plot.on("plotly_click", ({ points }) => {
    const row = points[0]?.customdata;
    if (row !== null && row !== undefined) copyCommand(cases[row]);
  });
  if (made.more) {
    plot.after(element("p", { class: "quiet more-of-it" }, `${counted(made.more, `more ${made.what ?? "case"}`)} not drawn. Filters select other cases.`));
  }
}

// Plotly also reports its own changes.
function tickAgain(plot, { axis, unit, floor }, change) {
  const isZoomed = Object.keys(change).some((key) => key.startsWith(`${axis}.range`) || key.startsWith(`${axis}.autorange`));
  if (!isZoomed) return;
  const ticks = logTicks(plot.layout[axis].range.map((end) => 10 ** end), unit, floor);
  Plotly.relayout(plot, Object.fromEntries(Object.entries(ticks).map(([name, value]) => [`${axis}.${name}`, value])));
}

const isVisible = (node) => node.checkVisibility();

function buildCharts() {
  const plots = [...document.querySelectorAll(".plot")];
  for (const plot of plots) {
    const caption = plot.closest("figure").querySelector("figcaption");
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-label", `Chart: ${caption.textContent}. Its values are in the table below.`);
  }
  const seen = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        target.isNear = isIntersecting;
        if (isIntersecting && !drawn.get(target)) draw(target);
      }
    },
    { rootMargin: "400px" },
  );
  plots.forEach((plot) => seen.observe(plot));
  const again = () => {
    for (const plot of plots) {
      drawn.set(plot, false);
      if (plot.isNear && isVisible(plot)) draw(plot);
    }
  };
  filters.listeners.push(again);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  let folded = [];
  addEventListener("beforeprint", () => {
    printing.now = true;
    folded = [...document.querySelectorAll("details.more:not([open])")];
    folded.forEach((details) => (details.open = true));
    plots.filter(isVisible).forEach(draw);
  });
  addEventListener("afterprint", () => {
    printing.now = false;
    folded.forEach((details) => (details.open = false));
    again();
  });
}
