//! The program `zonewarden`.

use std::process::ExitCode;

fn main() -> ExitCode {
    zonewarden_cli::main(std::env::args_os())
}
