use anyhow::Result;
use clap::Args;

use crate::exit::Exit;
use crate::global::Global;

/// Print completions for a shell
#[derive(Args)]
pub(crate) struct CompletionsCommand {
    /// The shell
    shell: clap_complete::Shell,
}

impl CompletionsCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        let mut text = Vec::new();
        clap_complete::generate(
            self.shell,
            &mut (global.interface)(),
            "writebench",
            &mut text,
        );
        global.output.results(&String::from_utf8_lossy(&text))
    }
}
