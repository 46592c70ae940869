// The same texts as in a terminal's tables.

const PREFIXES = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];

// Three significant digits, or all before the point.
function significant(value) {
  const digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return value.toFixed(digits);
}

// `4.61 GB/s`, `19.4 ms`.
function valueText(value, unit) {
  if (value <= 0) return `0 ${unit}`;
  // Kiloseconds are unusual.
  const largest = unit === "s" ? 1 : 1e9;
  const [factor, prefix] =
    PREFIXES.find(([factor]) => factor <= largest && value >= factor * 0.9995) ?? PREFIXES.at(-1);
  return `${significant(value / factor)} ${prefix}${unit}`;
}

const perSecond = (bytes) => valueText(bytes, "B/s");
const nanoseconds = (ns) => valueText(ns / 1e9, "s");
const percent = (share) => `${significant(share * 100)} %`;

// `1 case`, `2 cases`.
function counted(number, what) {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}

// Three significant digits, as in `valueText`.
function rounded(value, round) {
  if (!(value > 0)) return value;
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2);
  const nearest = Math.round(value / unit);
  return (Math.abs(value / unit - nearest) < 1e-6 ? nearest : round(value / unit)) * unit;
}

// Rounded outwards, or the range of too few samples. One sample has none.
function interval(figures, low, high, text) {
  if (figures.samples === 1) return "";
  if (figures.confidence < 0.95) return `${text(low)} … ${text(high)}`;
  return `${text(rounded(low, Math.floor))} – ${text(rounded(high, Math.ceil))}`;
}

// A tooltip's lines.
function caseLines(entry) {
  const lines = [entry.case];
  if (entry.label) lines.push(entry.label);
  const where = place(entry);
  if (where) lines.push(where);
  const figures = entry.figures;
  if (!figures) return [...lines, `${entry.outcome}: ${entry.reason ?? ""}`];
  const [median, low, high, least, most] = figures.throughput;
  const range = interval(figures, low, high, perSecond);
  lines.push(
    `${perSecond(median)} (${range && `${range}, `}${counted(figures.samples, "sample")})`,
    ...(figures.samples === 1 ? [] : [`all samples: ${perSecond(least)} – ${perSecond(most)}`]),
    `elapsed ${nanoseconds(figures.elapsed)}, ` +
      PHASES.map((phase, index) => [phase, figures.phases[index]])
        .filter(([, ns]) => ns > 0)
        .map(([phase, ns]) => `${phase} ${nanoseconds(ns)}`)
        .join(", "),
    `CPU: user ${nanoseconds(figures.user)}, system ${nanoseconds(figures.system)}`,
    counted(figures.samples, "sample") +
      (figures.all_disturbed ? ", all of them disturbed" : figures.disturbed ? `, ${figures.disturbed} more disturbed` : "") +
      (figures.outliers ? `, ${counted(figures.outliers, "outlier")}` : ""),
  );
  if (figures.share !== undefined) lines.push(`${percent(figures.share)} of the limit`);
  if (figures.cut) lines.push(`cut short in ${counted(figures.cut, "sample")}`);
  if (entry.outcome !== "ok") lines.push(`${entry.outcome}: ${entry.reason ?? ""}`);
  return lines;
}
