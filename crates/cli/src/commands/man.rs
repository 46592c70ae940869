use anyhow::Result;
use clap::Args;
use writebench_model::did_you_mean;

use crate::exit::{Exit, usage};
use crate::global::Global;

/// Print the manual page
#[derive(Args)]
pub(crate) struct ManCommand {
    /// Command to describe [default: writebench itself]
    command: Option<String>,
}

impl ManCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        let mut command = (global.interface)();
        command.build();
        if let Some(name) = &self.command {
            let found = command.find_subcommand(name).cloned();
            let found = found.ok_or_else(|| {
                let names = command.get_subcommands().map(clap::Command::get_name);
                usage!("there is no command '{name}'{}", did_you_mean(name, names))
            })?;
            command = found.display_name(format!("writebench-{name}"));
        }
        let mut text = Vec::new();
        clap_mangen::Man::new(command).render(&mut text)?;
        global.output.results(&String::from_utf8_lossy(&text))
    }
}
