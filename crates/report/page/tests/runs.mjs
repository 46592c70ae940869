// Runs to make pages of: real ones, and what is made of their exports.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROGRAM = process.env.WRITEBENCH;

/** A directory that goes when the tests are over, with a database of its own. */
export class Workplace {
  constructor() {
    if (!PROGRAM) throw new Error("WRITEBENCH is not set: it names the program, built with `cargo build --release`");
    this.directory = mkdtempSync(join(tmpdir(), "writebench-page-"));
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

  /** A real run, as its export has it. */
  measured(...words) {
    this.writebench("run", this.target, ...words, "--no-limits", "--export", "json=-");
    return JSON.parse(this.writebench("show", "--export", "json=-"));
  }

  imported(name, run) {
    writeFileSync(this.file(name), JSON.stringify(run));
    this.writebench("import", this.file(name));
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

/** The run again, as one of its own. */
export function copyOf(run, label) {
  const copy = structuredClone(run);
  next += 1;
  copy.run.id = `${next}`.padStart(32, "0");
  copy.run.label = label;
  return copy;
}

/** The cases of several runs on one target as those of one. */
export function together(first, ...others) {
  const run = copyOf(first, first.run.label);
  run.cases.push(...others.flatMap((other) => other.cases));
  return run;
}

/** The run as one of several filesystems, each of which is slower than the one before it. */
export function sideBySide(run, kinds) {
  const all = kinds.map((kind, index) => {
    const { targets: [target], cases } = slowed(copyOf(run, "filesystems"), 1 + index / 2);
    return { target: { ...target, name: kind }, cases: cases.map((entry) => ({ ...entry, target: kind })) };
  });
  return { ...copyOf(run, "filesystems"), targets: all.map(({ target }) => target), cases: all.flatMap(({ cases }) => cases) };
}

/** Every sample of it takes that many times as long. */
export function slowed(run, times) {
  for (const { samples } of run.cases) {
    for (const sample of samples) {
      for (const phase of Object.keys(sample.phases_ns)) sample.phases_ns[phase] = Math.round(sample.phases_ns[phase] * times);
    }
  }
  return run;
}

/** What a case's last sample is when a call failed, or is not there. */
export function endedBy(outcome, message) {
  const failure = { phase: "write", call: "write", path: null, offset: 4096, errno: 28, message };
  return { outcome, cause: failure };
}
