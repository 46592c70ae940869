// Real runs, and variants of their exports.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROGRAM = process.env.WRITEBENCH;
/** The exit code of a search whose samples don't suffice. */
const NO_ANSWER = 6;

/** A temporary directory with its own database. */
export class Workplace {
  constructor(parent = tmpdir()) {
    if (!PROGRAM) throw new Error("WRITEBENCH is not set: it names the program, built with `cargo build`");
    this.directory = mkdtempSync(join(parent, "writebench-page-"));
    this.target = mkdtempSync(join(this.directory, "target-"));
  }

  remove() {
    rmSync(this.directory, { recursive: true, force: true });
  }

  file(name) {
    return join(this.directory, name);
  }

  writebench(...words) {
    const options = { encoding: "utf8", env: { ...process.env, WRITEBENCH_DB: this.file("runs.db") }, maxBuffer: 1 << 30 };
    return execFileSync(PROGRAM, ["--quiet", ...words], options);
  }

  /** The export of a real run. */
  measured(...words) {
    this.writebench("run", this.target, ...words, "--no-limits", "--export", "json=-");
    return JSON.parse(this.writebench("show", "--export", "json=-"));
  }

  /** A real search, as the last run. A busy machine can leave it without an answer, and its page must be right then too. */
  advised(...words) {
    try {
      this.writebench("advise", this.target, ...words);
    } catch (error) {
      if (error.status !== NO_ANSWER) throw error;
    }
  }

  exported(name, run) {
    writeFileSync(this.file(name), JSON.stringify(run));
    return this.file(name);
  }

  imported(name, run) {
    this.writebench("import", this.exported(name, run));
    return this.file(name);
  }

  /** The page of these runs. */
  page(name, ...runs) {
    this.writebench("report", ...runs, "-o", this.file(name));
    return this.file(name);
  }

  text(name) {
    return readFileSync(this.file(name), "utf8");
  }
}

let next = 0;

/** A copy as a separate run. */
export function copyOf(run, label) {
  const copy = structuredClone(run);
  next += 1;
  copy.run.id = `${next}`.padStart(32, "0");
  copy.run.label = label;
  return copy;
}

const UNITS = { KiB: 2 ** 10, MiB: 2 ** 20 };

function chunksOf({ axes, contract }) {
  const [, number, unit] = /^(\d+)(\w*)$/.exec(axes.chunk ?? "") ?? [];
  return number === undefined ? 1 : contract.bytes / (number * (UNITS[unit] ?? 1));
}

/**
 * Computed times make answers and bars the same on every machine. Latencies and unsupported cases remain measured.
 */
export function timed(run, count) {
  run.run.cpu_wait_ppm = null;
  // They are made again from the computed times.
  delete run.run.decisions;
  for (const [number, entry] of run.cases.entries()) {
    const model = entry.samples.findLast(({ outcome }) => outcome === "ok");
    if (model === undefined || entry.samples.at(-1).outcome !== "ok") continue;
    const write = (60_000 + 400 * chunksOf(entry)) * (1 + ((number * 37) % 100) / 50);
    entry.samples = Array.from({ length: count }, (_, round) => {
      const ns = Math.round(write * (1 + round / 50));
      const phases_ns = { prepare: 2000, open: 20_000, write: ns, sync: (entry.axes.sync ?? "none") === "none" ? 0 : 20 * ns, close: 1000 };
      return { ...structuredClone(model), round, order: number + 1, phases_ns, disturbed_by: null, user_cpu_ns: Math.round(0.2 * ns), system_cpu_ns: Math.round(0.7 * ns) };
    });
  }
  return run;
}

/** The cases as a stage of a search. */
export function searched(run, baseline, stage = "final") {
  for (const entry of run.cases) {
    Object.assign(entry, { suite: "advise", section: stage === "final" ? "Finals" : "Screening", stage, is_baseline: entry.name === baseline, label: null });
  }
  return run;
}

/** Several runs on one target as one. */
export function together(first, ...others) {
  const run = copyOf(first, first.run.label);
  run.cases.push(...others.flatMap((other) => other.cases));
  return run;
}

/** The run on several filesystems, each slower than the one before. */
export function sideBySide(run, kinds) {
  const all = kinds.map((kind, index) => {
    const { targets: [target], cases } = slowed(copyOf(run, "filesystems"), 1 + index / 2);
    return { target: { ...target, name: kind }, cases: cases.map((entry) => ({ ...entry, target: kind })) };
  });
  return { ...copyOf(run, "filesystems"), targets: all.map(({ target }) => target), cases: all.flatMap(({ cases }) => cases) };
}

/** Every sample takes that many times as long. */
export function slowed(run, times) {
  for (const { samples } of run.cases) {
    for (const sample of samples) {
      for (const phase of Object.keys(sample.phases_ns)) sample.phases_ns[phase] = Math.round(sample.phases_ns[phase] * times);
    }
  }
  return run;
}

/** The last sample of a case with a failed or missing call. */
export function endedBy(outcome, message) {
  const failure = { phase: "write", call: "write", path: null, offset: 4096, errno: 28, message };
  return { outcome, cause: failure };
}
