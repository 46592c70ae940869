// What the points of a chart stand for. Charts are drawn elsewhere: an element's key, such as `0.12`, has the numbers of
// its series and of its point.

const least = (values) => values.reduce((one, other) => Math.min(one, other), Infinity);
const most = (values) => values.reduce((one, other) => Math.max(one, other), -Infinity);

// [x, row, median, low, high, words], without a value only the first two. Bars have words, as the tables of a terminal.
function pointOf([x, row, median, low, high, words]) {
  return { x, row, median, low, high, words, has: median !== undefined && median !== null };
}

// Without filtered points.
function shownSeries(chart) {
  return chart.series.map((series) => ({
    name: series.name,
    points: series.points.map(pointOf).filter((point) => filters.shown[point.row]),
  }));
}

function figureText(point, chart) {
  const unit = chart.y.unit;
  if (point.words !== undefined) return `${chart.y.label}: ${point.words}`;
  const range = point.low === point.high ? "" : ` (${valueText(point.low, unit)} – ${valueText(point.high, unit)})`;
  return `${chart.y.label}: ${valueText(point.median, unit)}${range}`;
}

const tickText = (chart, x) => chart.x.ticks.find(([at]) => at === x)?.[1] ?? "";

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

const HINT = "click to copy the command";

// The place of a point, in words.
function whereText(chart, series, number) {
  const point = pointOf(series.points[number]);
  switch (chart.kind) {
    case "bars":
      return tickText(chart, point.x);
    case "groups":
      return `${series.name}, ${tickText(chart, point.x)}`;
    case "lines": {
      const isLongest = chart.x.scale === "percentile" && number === series.points.length - 1;
      return `${series.name}, ${isLongest ? "the longest" : `${chart.x.label} ${placeText(chart, point.x)}`}`;
    }
    default:
      return series.name;
  }
}

// Place, value, and the case's values.
function pointLines(chart, series, number) {
  const point = pointOf(series.points[number]);
  const about = caseLines(cases[point.row]);
  if (!point.has) return [whereText(chart, series, number), "", ...about];
  if (chart.kind === "stacked") return [`${series.name}: ${valueText(point.median, chart.y.unit)}`, "", ...about, HINT];
  return [whereText(chart, series, number), figureText(point, chart), "", ...about, HINT];
}

function sampleLines(entry, index) {
  const { phases, total } = sampleTimes(entry, index);
  const state = entry.samples.disturbed?.[index] === 1 ? ", disturbed" : "";
  return [
    `sample of round ${entry.samples.round[index]}${state}: ${nanoseconds(total)}`,
    PHASES.map((phase, number) => `${phase} ${nanoseconds(phases[number])}`).filter((_, number) => phases[number] > 0).join(", "),
    "", entry.case, HINT,
  ];
}

function pairLines(pair) {
  const [a, b] = pair.bytes_per_s;
  return [cases[pair.rows[1]].case, `B / A: ${pair.ratio.toFixed(3)}`, `A ${perSecond(a)}, B ${perSecond(b)}`, HINT];
}
