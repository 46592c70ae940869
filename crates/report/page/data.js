// See crates/report/src/formats/html/data.rs. Only scripts read the data, so it is packed.

const data = await unpacked(document.getElementById("data").textContent);

async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).json();
}

const PHASES = ["prepare", "open", "write", "sync", "close"];

// Names replace numbers. `row` identifies a case in charts.
const cases = data.cases.map((entry, row) => {
  const run = data.runs[entry.run];
  const target = run.targets[entry.target];
  return {
    ...entry,
    row,
    run: run.name,
    target: target.name,
    filesystem: target.filesystem,
    suite: data.sections[entry.section][0],
    command: `${target.command} ${entry.options ?? `--case ${quoted(entry.case)}`}`,
    searched: `${entry.case} ${entry.label ?? ""}`.toLowerCase(),
  };
});

const severalRuns = data.runs.length > 1;
const severalTargets = data.runs.some((run) => run.targets.length > 1);

// Quoted for a shell.
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

// Only the parts that differ between cases.
function place(entry) {
  const parts = [severalRuns ? entry.run : "", severalTargets ? entry.target : ""];
  return parts.filter((part) => part !== "").join(" · ");
}

// Nanoseconds of each phase, and their sum.
function sampleTimes(entry, index) {
  const phases = PHASES.map((phase) => entry.samples[phase]?.[index] ?? 0);
  return { phases, total: phases.reduce((sum, ns) => sum + ns, 0) };
}
