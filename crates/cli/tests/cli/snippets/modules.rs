//! Functions of Node.js in another file.

use std::process::Command;

use anyhow::{Result, ensure};
use writebench_snippets::Language;
use writebench_testkit::{Kind, Need, Trials, directory_on};

use super::built::text;

pub(crate) fn add(trials: &mut Trials) {
    let needs = [Need::Program("node"), Need::Filesystem(Kind::Ext4)];
    for options in [&[][..], &["--main"]] {
        let name = format!(
            "snippets: node: modules of both kinds import the function{}",
            options.concat()
        );
        trials.add(name, &needs, move || imports(options));
    }
    for (case, options) in [
        ("write,chunk=5", &[][..]),
        ("pwrite,chunk=5", &["--atomic"]),
        ("writev,chunk=3,vector=2", &[]),
    ] {
        let name = format!(
            "snippets: node: {case}{} writes all bytes of a typed array",
            options.concat()
        );
        trials.add(name, &needs, move || writes_elements(case, options));
    }
}

/// Prints the path of a failed statement.
fn node(code: &str, name: &str, on: &std::path::Path) -> Result<()> {
    let file = on.join(name);
    std::fs::write(&file, code)?;
    let output = Command::new("node").arg(&file).current_dir(on).output()?;
    ensure!(
        output.status.success() && output.stdout.is_empty(),
        "{output:?}"
    );
    Ok(())
}

fn imports(options: &[&str]) -> Result<()> {
    let on = directory_on(Kind::Ext4);
    for (case, stream, function) in [
        ("write", "", "writeFile"),
        ("write", "--stream", "writeStream"),
        ("read-write", "", "copyFile"),
    ] {
        let options: Vec<&str> = options
            .iter()
            .copied()
            .chain(Some(stream).filter(|text| !text.is_empty()))
            .collect();
        let text = text(case, Language::Node, &options)?.map_err(anyhow::Error::msg)?;
        ensure!(
            text.contains(&format!("{{ {function} }} = require('./FILE.cjs')")),
            "{text}"
        );
        std::fs::write(on.path().join("FILE.cjs"), &text)?;
        let check =
            format!("if (typeof {function} !== 'function') throw new Error('no function');");
        node(
            &format!("const {{ {function} }} = require('./FILE.cjs');\n{check}"),
            "uses.cjs",
            on.path(),
        )?;
        node(
            &format!("import {{ {function} }} from './FILE.cjs';\n{check}"),
            "uses.mjs",
            on.path(),
        )?;
    }
    Ok(())
}

const ARRAYS: &str = r"
const fs = require('node:fs');
const { writeFile } = require('./written.cjs');
const bytes = Uint8Array.from({ length: 64 }, (_, at) => at * 3);
const of = (Type, offset, length) => new Type(bytes.buffer, offset, length);
const arrays = [
  of(Uint8Array, 3, 31), of(Int8Array, 0, 7), of(Uint16Array, 2, 3), of(Float32Array, 4, 5), of(Float64Array, 8, 7),
  of(BigInt64Array, 0, 8), of(DataView, 5, 13), Buffer.from(bytes.buffer, 9, 20), new Uint16Array(0),
];
for (const data of arrays) {
  writeFile('file', data);
  const expected = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (!fs.readFileSync('file').equals(expected)) throw new Error(`other bytes of ${data.constructor.name}`);
  fs.unlinkSync('file');
}
// Anything else is refused before a file is made.
for (const data of ['text', [1, 2], bytes.buffer, undefined, { length: 4 }]) {
  let refusal;
  try {
    writeFile('file', data);
  } catch (error) {
    refusal = error;
  }
  if (!(refusal instanceof TypeError) || fs.existsSync('file')) throw new Error(`${data}: ${refusal}`);
}
";

fn writes_elements(case: &str, options: &[&str]) -> Result<()> {
    let on = directory_on(Kind::Ext4);
    let text = text(case, Language::Node, options)?.map_err(anyhow::Error::msg)?;
    std::fs::write(on.path().join("written.cjs"), text)?;
    node(ARRAYS, "arrays.cjs", on.path())
}
