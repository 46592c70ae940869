// Values as Plotly's traces, a function per kind of chart.

// More categories are illegible.
const MOST_CATEGORIES = 60;
const MOST_LINES = 24;
// Closer dots would cover each other, as a part of the axis.
const DOT_GRID = 800;

const isDark = () => matchMedia("screen and (prefers-color-scheme: dark)").matches && !printing.now;
const printing = { now: false };
const pick = ([light, dark]) => (isDark() ? dark : light);
const faded = (colour, part) => colour + Math.round(part * 255).toString(16).padStart(2, "0");

// [x, row, median, low, high], without a value only the first two.
function pointOf([x, row, median, low, high]) {
  return { x, row, median, low, high, has: median !== undefined && median !== null };
}

// Without filtered points.
function shownSeries(chart) {
  return chart.series.map((series) => ({
    name: series.name,
    colour: pick(series.colours),
    points: series.points.map(pointOf).filter((point) => filters.shown[point.row]),
  }));
}

function figureText(point, chart) {
  const unit = chart.y.unit;
  const range = point.low === point.high ? "" : ` (${valueText(point.low, unit)} – ${valueText(point.high, unit)})`;
  return `${plain(chart.y.label)}: ${valueText(point.median, unit)}${range}`;
}

// Place, value, and the case's values.
function hoverText(point, chart, where) {
  return [`${where}`, figureText(point, chart), "", ...caseLines(cases[point.row]), "<i>click to copy the command</i>"].join("<br>");
}

// Positive values with their intervals, or sums of parts.
function extent(chart, series) {
  const points = series.flatMap(({ points }) => points).filter((point) => point.has);
  if (chart.kind !== "stacked") {
    const samples = ({ row }) => (chart.kind === "bars" ? cases[row].samples.round.map((_, index) => sampleTimes(cases[row], index).total / 1e9) : []);
    return points.flatMap((point) => [point.low, point.median, point.high, ...samples(point)]).filter((value) => value > 0);
  }
  const whole = new Map();
  for (const point of points) whole.set(point.x, (whole.get(point.x) ?? 0) + point.median);
  return [...whole.values()];
}

const least = (values) => values.reduce((one, other) => Math.min(one, other), Infinity);
const most = (values) => values.reduce((one, other) => Math.max(one, other), -Infinity);

// The place of 0 on a logarithmic axis, if there is a 0.
function floorOf(chart, series) {
  const points = series.flatMap(({ points }) => points).filter((point) => point.has);
  if (chart.y.scale !== "log10" || points.every((point) => point.low > 0)) return undefined;
  const positive = extent(chart, series);
  return positive.length > 0 ? least(positive) / 2 : 1;
}

const raisedTo = (floor) => (value) => (floor !== undefined && value <= 0 ? floor : value);

const tickText = (chart, x) => plain(chart.x.ticks.find(([at]) => at === x)?.[1] ?? "");

// Also between ticks: `99.95 %`, `1.20 s`.
function placeText(chart, x) {
  switch (chart.x.scale) {
    case "percentile":
      // With all nines.
      return `${Number((100 - Number((100 * 10 ** -x).toPrecision(2))).toFixed(9))} %`;
    case "linear":
      return valueText(x, "s");
    default:
      return tickText(chart, x);
  }
}

function lineTraces(chart, series, { floor }) {
  const raised = raisedTo(floor);
  return series.flatMap(({ name, colour, points: drawn }, index) => {
    if (!drawn.some((point) => point.has)) return [];
    const x = drawn.map((point) => point.x);
    const group = { legendgroup: `${index}`, name: plain(name) };
    const edge = (end, piece) => ({
      ...group, type: "scatter", mode: "lines", x: piece.map((point) => point.x), y: piece.map((point) => raised(point[end])),
      line: { width: 0, color: colour }, hoverinfo: "skip", showlegend: false,
    });
    const isLongest = (point) => chart.x.scale === "percentile" && point === drawn.at(-1);
    const where = (point) => `${plain(name)}, ${isLongest(point) ? "the longest" : `${chart.x.label} ${placeText(chart, point.x)}`}`;
    const line = {
      ...group, type: "scatter", mode: drawn.length > 60 ? "lines" : "lines+markers", x,
      // A case without a value breaks its line.
      y: drawn.map((point) => (point.has ? raised(point.median) : null)), connectgaps: false,
      line: { color: colour, width: 2, dash: index < 7 ? "solid" : index < 14 ? "dash" : "dot" },
      marker: {
        color: colour, size: 8, symbol: index % 12,
        line: { width: drawn.map((point) => (cases[point.row].figures?.all_disturbed ? 2 : 0)), color: "#b57a00" },
      },
      hovertext: drawn.map((point) => (point.has ? hoverText(point, chart, where(point)) : "")),
      hoverinfo: "text", customdata: drawn.map((point) => point.row),
    };
    const fill = { fill: "tonexty", fillcolor: faded(colour, series.length > 3 ? 0.1 : 0.18) };
    return [...unbroken(drawn).flatMap((piece) => [edge("low", piece), { ...edge("high", piece), ...fill }]), line];
  });
}

// The pieces of a line between missing values.
function unbroken(points) {
  const pieces = [[]];
  for (const point of points) {
    if (point.has) pieces.at(-1).push(point);
    else if (pieces.at(-1).length > 0) pieces.push([]);
  }
  return pieces.filter((piece) => piece.length > 0);
}

function groupTraces(chart, series, { floor }) {
  const raised = raisedTo(floor);
  return series.map(({ name, colour, points }, index) => {
    const drawn = points.filter((point) => point.has);
    const offset = series.length < 2 ? 0 : (index / (series.length - 1) - 0.5) * 0.7;
    return {
      type: "scatter", mode: "markers", name: plain(name),
      x: drawn.map((point) => point.x + offset), y: drawn.map((point) => raised(point.median)),
      error_y: {
        type: "data", symmetric: false, thickness: 1.5, width: 3, color: colour,
        array: drawn.map((point) => raised(point.high) - raised(point.median)),
        arrayminus: drawn.map((point) => raised(point.median) - raised(point.low)),
      },
      marker: { color: colour, size: 8, symbol: index % 12 },
      hovertext: drawn.map((point) => hoverText(point, chart, `${plain(name)}, ${tickText(chart, point.x)}`)),
      hoverinfo: "text", customdata: drawn.map((point) => point.row),
    };
  });
}

// Categories with values, and the number of those that do not fit.
function shownCategories(series, chart) {
  const used = new Set(series.flatMap(({ points }) => points.filter((point) => point.has).map((point) => point.x)));
  const all = chart.x.ticks.filter(([at]) => used.has(at));
  return { shown: all.slice(0, MOST_CATEGORIES), more: all.length - Math.min(all.length, MOST_CATEGORIES) };
}

// Bars with intervals, and dots for good samples.
function barTraces(chart, series, categories) {
  const place = new Map(categories.shown.map(([at], index) => [at, index]));
  const { colour, points } = series[0] ?? { colour: "#000000", points: [] };
  const drawn = points.filter((point) => point.has && place.has(point.x));
  const bars = {
    type: "bar", orientation: "h", name: plain(chart.y.label), width: 0.7, showlegend: false,
    y: drawn.map((point) => place.get(point.x)), x: drawn.map((point) => point.median),
    marker: { color: drawn.map((point) => faded(colour, cases[point.row].figures?.all_disturbed ? 0.2 : 0.45)) },
    error_x: {
      type: "data", symmetric: false, thickness: 2, width: 5, color: ink(),
      array: drawn.map((point) => point.high - point.median), arrayminus: drawn.map((point) => point.median - point.low),
    },
    hovertext: drawn.map((point) => hoverText(point, chart, tickText(chart, point.x))),
    hoverinfo: "text", customdata: drawn.map((point) => point.row),
  };
  return [bars, dots(drawn, place, colour)];
}

function dots(drawn, place, colour) {
  const found = [];
  for (const point of drawn) {
    const entry = cases[point.row];
    for (let index = 0; index < entry.samples.round.length; index += 1) {
      const { phases, total } = sampleTimes(entry, index);
      const disturbed = entry.samples.disturbed?.[index] === 1;
      found.push({ row: point.row, y: place.get(point.x), x: total / 1e9, phases, index, disturbed });
    }
  }
  const farthest = most(found.map((dot) => dot.x));
  const met = new Set();
  // Overlapping dots are drawn once.
  const unlike = found.filter((dot) => {
    const key = `${dot.y} ${Math.round((dot.x / farthest) * DOT_GRID)} ${dot.disturbed}`;
    return found.length < 4000 || (!met.has(key) && met.add(key));
  });
  const text = (dot) => {
    const entry = cases[dot.row];
    const phases = PHASES.map((phase, index) => `${phase} ${nanoseconds(dot.phases[index])}`).filter((_, index) => dot.phases[index] > 0);
    const state = dot.disturbed ? ", disturbed" : "";
    return [`sample of round ${entry.samples.round[dot.index]}${state}: ${valueText(dot.x, "s")}`, phases.join(", "), `<b>${broken(entry.case, 60)}</b>`].join("<br>");
  };
  return {
    type: "scatter", mode: "markers", showlegend: false, name: "samples",
    // Spread, always in the same places.
    x: unlike.map((dot) => dot.x), y: unlike.map((dot) => dot.y + (((dot.index * 7) % 11) / 10 - 0.5) * 0.5),
    marker: {
      size: 5, color: colour, opacity: 0.8,
      symbol: unlike.map((dot) => (dot.disturbed ? "circle-open" : "circle")),
    },
    hovertext: unlike.map(text), hoverinfo: "text", customdata: unlike.map((dot) => dot.row),
  };
}

function stackTraces(chart, series, categories) {
  const place = new Map(categories.shown.map(([at], index) => [at, index]));
  return series.map(({ name, colour, points }) => {
    const drawn = points.filter((point) => point.has && place.has(point.x));
    return {
      type: "bar", orientation: "h", name: plain(name), width: 0.75,
      y: drawn.map((point) => place.get(point.x)), x: drawn.map((point) => point.median),
      marker: { color: colour },
      hovertext: drawn.map((point) => [`${plain(name)}: ${valueText(point.median, chart.y.unit)}`, ...caseLines(cases[point.row])].join("<br>")),
      hoverinfo: "text", customdata: drawn.map((point) => point.row),
    };
  });
}

// Logarithmic colours: one more call per chunk costs a multiple.
function heatTraces(chart, series, range, isNarrow) {
  const rows = series.filter(({ points }) => points.length > 0);
  const columns = chart.x.ticks.filter(([at]) => rows.some(({ points }) => points.some((point) => point.x === at)));
  const grid = (value) => rows.map(({ name, points }) => columns.map(([at]) => value(points.find((point) => point.x === at), name)));
  const values = grid((point) => (point?.has && point.median > 0 ? Math.log10(point.median) : null));
  const [from, to] = range.map(Math.log10);
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => from + part * (to - from));
  const cellText = (point) => {
    if (point === undefined) return "";
    if (!point.has) return "✕";
    if (isNarrow) return "";
    // The unit is next to the colours.
    return (cases[point.row].figures?.all_disturbed ? "~" : "") + valueText(point.median, chart.y.unit).replace(chart.y.unit, "").trim();
  };
  return [{
    type: "heatmap", z: values, zmin: from, zmax: to,
    x: columns.map(([, text]) => plain(text)), y: rows.map(({ name }) => (isNarrow ? broken(name.replaceAll(" + ", " +,"), 16).replaceAll(",", " ") : plain(name))),
    xgap: 2, ygap: 2,
    colorscale: data.heat.map((colours, index) => [index / (data.heat.length - 1), pick(colours)]),
    colorbar: {
      tickvals: ticks, ticktext: ticks.map((value) => valueText(10 ** value, chart.y.unit)), thickness: 14, outlinewidth: 0,
      tickfont: { color: ink() },
    },
    text: grid(cellText), texttemplate: "%{text}",
    hovertext: grid((point, name) => (point ? (point.has ? hoverText(point, chart, plain(name)) : caseLines(cases[point.row]).join("<br>")) : "")),
    hoverinfo: "text", customdata: grid((point) => point?.row ?? null),
  }];
}

// From the slowest.
function ratioTraces(compared) {
  const drawn = compared.cases
    .filter((pair) => filters.shown[pair.rows[0]] || filters.shown[pair.rows[1]])
    .sort((a, b) => a.ratio - b.ratio);
  return [{
    type: "scatter", mode: "markers", showlegend: false,
    x: drawn.map((pair) => pair.ratio), y: drawn.map((_, index) => index),
    marker: { size: 9, color: pick(["#59636e", "#9aa5b1"]) },
    hovertext: drawn.map((pair) => [
      `<b>${broken(cases[pair.rows[1]].case, 60)}</b>`,
      `B / A: ${pair.ratio.toFixed(3)}`,
      `A ${perSecond(pair.bytes_per_s[0])}, B ${perSecond(pair.bytes_per_s[1])}`,
    ].join("<br>")),
    hoverinfo: "text", customdata: drawn.map((pair) => pair.rows[1]),
  }];
}
