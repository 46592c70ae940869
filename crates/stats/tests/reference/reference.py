"""Reference figures for crates/stats, by scipy and numpy: prints JSON. See main.rs beside this file.

    python3 crates/stats/tests/reference/reference.py > crates/stats/tests/reference/reference.json
"""

import json

import numpy
from scipy import stats

# From a fixed formula, so that no generator of random numbers must be the same everywhere: skewed, like write times.
def skewed(count, seed):
    uniform = [((seed + i * 7919) % 104729 + 0.5) / 104729 for i in range(1, count + 1)]
    return [round(1e6 * (1 - numpy.log(u) ** 3 / 40) * (1 + 0.3 * ((i * seed) % 5)), 0) for i, u in enumerate(uniform)]


def median_interval(values):
    """Order statistics of the sign test, symmetric: the largest k with coverage of 95 %, by scipy's binomial test."""
    ordered, n = sorted(values), len(values)
    coverage = lambda k: 1 - stats.binomtest(k - 1, n, 0.5).pvalue
    k = max([1] + [k for k in range(1, (n + 1) // 2 + 1) if coverage(k) >= 0.95])
    return {
        "values": values,
        "estimate": float(numpy.median(values)),
        "low": ordered[k - 1],
        "high": ordered[n - k],
        "confidence": max(0.0, float(coverage(k))),
    }


def paired_ratio(ratios):
    """Yuen's test of the logarithms against a second sample without a spread, which leaves the test of one sample."""
    logs = numpy.log(ratios)
    trimmed = stats.ttest_ind(logs, numpy.zeros(len(logs)), trim=0.2, equal_var=False)
    interval = trimmed.confidence_interval(0.95)
    return {
        "ratios": ratios,
        "estimate": float(numpy.exp(stats.trim_mean(logs, 0.2))),
        "low": float(numpy.exp(interval.low)),
        "high": float(numpy.exp(interval.high)),
    }


def independent_ratio(numerator, denominator):
    """Inverts scipy's exact Mann-Whitney test: the ratios that it does not reject at 5 %."""
    ratios = sorted({x / y for x in numerator for y in denominator})
    # Between two neighbouring ratios the test's count is constant; at the ratios themselves there are ties.
    edges = [ratios[0] / 2] + ratios + [ratios[-1] * 2]
    accepted = []
    for below, above in zip(edges, edges[1:]):
        shifted = [y * (below * above) ** 0.5 for y in denominator]
        if stats.mannwhitneyu(numerator, shifted, method="exact").pvalue > 0.05:
            accepted += [below, above]
    all_ratios = [x / y for x in numerator for y in denominator]
    return {
        "numerator": numerator,
        "denominator": denominator,
        "estimate": float(numpy.exp(numpy.median(numpy.log(all_ratios)))),
        "low": min(accepted),
        "high": max(accepted),
    }


def mann_whitney(n, m):
    """The largest count that is significant at 5 %, two-sided, and the coverage of the interval that it gives."""

    def pvalue(u):
        # Two sides that have exactly u pairs the wrong way round, for u up to the middle.
        full, rest = divmod(u, m)
        ones = [m + 1.0 + i for i in range(full)] + [rest + 0.5] + [-1.0 - i for i in range(n - full - 1)]
        return float(stats.mannwhitneyu(ones, [i + 1.0 for i in range(m)], method="exact").pvalue)

    significant, not_significant = -1, n * m // 2
    while not_significant - significant > 1:
        between = (significant + not_significant) // 2
        if pvalue(between) <= 0.05:
            significant = between
        else:
            not_significant = between
    confidence = 1 - pvalue(significant) if significant >= 0 else 0.0
    return {"n": n, "m": m, "critical": significant, "confidence": confidence}


def outliers(values):
    deviations = numpy.abs(numpy.array(values) - numpy.median(values))
    mad = stats.median_abs_deviation(values)
    return {"values": values, "count": int((0.6745 * deviations / mad > 3.5).sum()) if mad > 0 else 0}


def mean_and_sd(values):
    return {"values": values, "mean": float(numpy.mean(values)), "sd": float(numpy.std(values, ddof=1))}


TIED = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0]
sizes = [(4, 4), (6, 6), (8, 5), (11, 7), (20, 20)]

figures = {
    "median_interval": [median_interval(skewed(n, 11)) for n in (6, 7, 11, 20, 51, 200)] + [median_interval(TIED)],
    "paired_ratio": [paired_ratio([round(x / 2e6, 6) for x in skewed(n, 11)]) for n in range(6, 20)],
    "independent_ratio": [independent_ratio(skewed(n, 3), skewed(m, 17)) for n, m in sizes],
    "mann_whitney": [mann_whitney(n, m) for n, m in sizes + [(3, 5), (2, 8), (15, 12), (30, 40)]],
    "mann_whitney_approximated": [mann_whitney(n, m) for n, m in ((80, 80), (100, 70), (150, 150))],
    "count_outliers": [outliers(skewed(n, 31)) for n in (6, 20, 100)] + [outliers(TIED + [60.0])],
    "mean_and_sd": [mean_and_sd(values) for values in (TIED, skewed(6, 2), skewed(100, 2))],
}

# A line for each entry, so that a change of one shows as one.
parts = [f' "{name}": [\n  ' + ",\n  ".join(map(json.dumps, entries)) + "\n ]" for name, entries in figures.items()]
print("{\n" + ",\n".join(parts) + "\n}")
