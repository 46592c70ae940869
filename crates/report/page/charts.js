// Draws charts when they come into view, and again when filters, the screen's colours or the printer change them.

// Plotly's own choice of buttons has one that would send the chart to its makers.
const CONFIG = {
  responsive: true, displaylogo: false, plotlyServerURL: "",
  modeBarButtons: [["toImage"], ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]],
};
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

const ink = () => pick(["#1f2328", "#e6edf3"]);
const grid = () => pick(["#dfe3e8", "#2b323b"]);
const paper = () => pick(["#ffffff", "#161b22"]);
// What has a picture, and whether that is of the filters as they are.
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
    margin: { l: 60, r: 16, t: 16, b: 48 }, hovermode: "closest",
    hoverlabel: { align: "left", bgcolor: paper(), bordercolor: grid(), font: { color: ink(), size: 12 } },
    legend: { orientation: "h", y: -0.18, yanchor: "top", traceorder: "normal", font: { size: 12 } },
    modebar: { color: pick(["#59636e", "#9aa5b1"]), activecolor: ink(), bgcolor: "rgba(0,0,0,0)" },
    ...more,
  };
}

// Round values of a logarithmic axis; Plotly's own have no unit on all but one in ten.
function logTicks(least, most) {
  const decades = Math.log10(most / least);
  const steps = decades > 3 ? [1] : decades > 1.2 ? [1, 2, 5] : [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
  const first = Math.floor(Math.log10(least));
  const powers = Array.from({ length: Math.ceil(decades) + 2 }, (_, index) => first + index);
  const all = powers.flatMap((power) => steps.map((step) => Number(`${step}e${power}`)));
  return all.filter((value) => value >= least / 1.3 && value <= most * 1.3);
}

// `500 MB/s`, `1.5 GB/s`.
const roundText = (value, unit) => valueText(value, unit).replace(/(\.\d*?)0+(?= )/, "$1").replace(/\.(?= )/, "");

// All figures of a chart that are above 0, with the ends of their intervals; of bars in parts, of whole bars.
function extent(chart, series) {
  const points = series.flatMap((it) => it.points).filter((point) => point.has);
  if (chart.kind !== "stacked") return points.flatMap((point) => [point.low, point.median, point.high]).filter((value) => value > 0);
  const whole = new Map();
  for (const point of points) whole.set(point.x, (whole.get(point.x) ?? 0) + point.median);
  return [...whole.values()];
}

// What stands beside each other has one scale, so that it can be compared.
function sharedRange(chart, peers) {
  const isAlike = (peer) => peer.kind === chart.kind && peer.y.unit === chart.y.unit && peer.y.scale === chart.y.scale;
  if (peers.length < 2 || !peers.every(isAlike)) return undefined;
  // Dots reach beyond bars.
  if (chart.kind === "bars" || chart.kind === "heat-map") return undefined;
  const values = peers.flatMap((peer) => extent(peer, shownSeries(peer)));
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return chart.y.scale === "log10" ? [Math.log10(least / 1.5), Math.log10(most * 1.5)] : [0, most * 1.05];
}

// The axis of figures. A linear one has Plotly's own ticks, which follow the zoom.
function figureAxis(chart, series, rangemode, peers) {
  const { label, unit, scale } = chart.y;
  const range = sharedRange(chart, peers);
  const shared = range === undefined ? {} : { range, autorange: false };
  if (scale !== "log10") {
    return axis(label, { type: "linear", rangemode, tickformat: "~s", ticksuffix: unit, ...shared });
  }
  const points = series.flatMap((it) => it.points).filter((point) => point.has);
  const positive = range ? range.map((end) => 10 ** end) : extent(chart, series);
  const ticks = positive.length > 0 ? logTicks(Math.min(...positive), Math.max(...positive)) : [];
  const text = ticks.map((value) => roundText(value, unit));
  if (points.some((point) => point.median <= 0)) {
    ticks.unshift(floorOf(chart, series));
    text.unshift("0");
    delete shared.range;
  }
  return axis(`${label} (logarithmic)`, { type: "log", tickvals: ticks, ticktext: text, ...(shared.range ? shared : {}) });
}

// The axis that figures are given by.
function placeAxis(chart, series) {
  const { scale, label, ticks } = chart.x;
  const places = ticks.map(([at]) => at);
  const text = ticks.map(([, text]) => plain(text));
  switch (scale) {
    case "log2":
      return axis(label, { type: "log", tickvals: places, ticktext: text });
    case "linear":
      return axis(label, { type: "linear", rangemode: "tozero", ticksuffix: " s" });
    case "categories":
      return axis(label, { tickvals: places, ticktext: text, range: [-0.6, places.length - 0.4] });
    default:
      return axis(label, { tickvals: places, ticktext: text });
  }
}

function categoryAxis(categories) {
  const text = categories.shown.map(([, text]) => broken(text, 36));
  return axis("", {
    tickvals: text.map((_, index) => index), ticktext: text, autorange: false,
    range: [text.length - 0.4, -0.6], gridcolor: "rgba(0,0,0,0)",
  });
}

// Traces, layout, height in pixels, and what is to be said below.
function picture(chart, peers) {
  const all = shownSeries(chart).filter((it) => chart.kind !== "lines" || it.points.some((point) => point.has));
  const series = chart.kind === "lines" ? all.slice(0, MOST_LINES) : all;
  const count = series.reduce((sum, it) => sum + it.points.filter((point) => point.has).length, 0);
  if (count === 0) return { empty: true };
  const legendLines = Math.ceil(series.filter((it) => it.points.length > 0).length / 3);
  switch (chart.kind) {
    case "groups":
    case "lines": {
      const traces = chart.kind === "lines" ? lineTraces(chart, series) : groupTraces(chart, series);
      const rangemode = chart.y.scale === "log10" ? "normal" : "tozero";
      return { traces, layout: layout({ xaxis: placeAxis(chart, series), yaxis: figureAxis(chart, series, rangemode, peers) }), height: 420 + 20 * legendLines, more: all.length - series.length };
    }
    case "heat-map": {
      const rows = series.filter((it) => it.points.length > 0).length;
      return {
        traces: heatTraces(chart, series),
        layout: layout({ xaxis: axis(chart.x.label, { type: "category" }), yaxis: axis("", { type: "category", autorange: "reversed" }) }),
        height: 110 + 30 * rows, cells: true,
      };
    }
    default: {
      const categories = shownCategories(series, chart);
      const stacked = chart.kind === "stacked";
      const traces = stacked ? stackTraces(chart, series, categories) : barTraces(chart, series, categories);
      const more = stacked ? { barmode: "stack" } : {};
      return {
        traces, layout: layout({ ...more, xaxis: figureAxis(chart, series, "tozero", peers), yaxis: categoryAxis(categories) }),
        height: 130 + 34 * Math.max(categories.shown.length, 2), more: categories.more,
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
  const ends = compared.cases.flatMap((it) => [it.ratio[1], it.ratio[2]]).filter((ratio) => ratio > 0);
  const ticks = [...new Set([1, ...logTicks(Math.min(...ends), Math.max(...ends))])];
  return {
    traces, height: dense ? 1000 : 130 + 34 * Math.max(rows, 2),
    layout: layout({
      xaxis: axis("B / A (logarithmic)", { type: "log", tickvals: ticks, ticktext: ticks.map(String) }),
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
  return picture(data.charts[plot.dataset.chart], [...beside].map((it) => data.charts[it.dataset.chart]));
}

function say(plot, text) {
  plot.classList.add("empty");
  plot.replaceChildren(element("p", { class: "quiet" }, text));
}

function draw(plot) {
  drawn.set(plot, true);
  const made = pictureOf(plot);
  plot.parentElement.querySelectorAll(":scope > .more-of-it").forEach((it) => it.remove());
  if (plot.data || plot.classList.contains("empty")) {
    Plotly.purge(plot);
    plot.replaceChildren();
    plot.classList.remove("empty");
  }
  if (made.empty) return say(plot, "No figure is left to draw: the filters leave nothing, or its cases have none.");
  if (made.cells) made.traces[0].texttemplate = plot.clientWidth > 900 ? "%{text}" : "";
  const settled = { ...made.layout, height: made.height };
  // On a phone every pixel counts; the axes take what their texts need.
  if (plot.clientWidth < 560) settled.margin = { l: 8, r: 8, t: 16, b: 40 };
  Plotly.newPlot(plot, made.traces, settled, CONFIG);
  plot.on("plotly_click", ({ points }) => {
    const row = points[0]?.customdata;
    if (row !== null && row !== undefined) copyCommand(cases[row]);
  });
  if (made.more) {
    plot.after(element("p", { class: "quiet more-of-it" }, `${counted(made.more, "more case")} not drawn; filters choose which are.`));
  }
}

const isVisible = (plot) => plot.offsetParent !== null;

function buildCharts() {
  const plots = [...document.querySelectorAll(".plot")];
  for (const plot of plots) {
    const caption = plot.closest("figure").querySelector("figcaption");
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-label", `Chart: ${caption.textContent}. Its figures are in the table below.`);
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
  addEventListener("beforeprint", () => {
    printing.now = true;
    plots.filter(isVisible).forEach(draw);
  });
  addEventListener("afterprint", () => {
    printing.now = false;
    again();
  });
}
