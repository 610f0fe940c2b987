//! What can go wrong with a policy, told apart for those who have to act on it.

use std::time::Duration;

use zonewarden_contract::types::Problem;

/// The cause of an error, as wasmtime tells it.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync + 'static>;

/// A call that brought no answer, or a component that is no policy. Whatever it is, the next call works: every call has an
/// instance of its own, and this one's is gone.
///
/// The text of an error does not repeat its cause; that is in `source`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine itself could not do its work: the system gave it no memory or no thread.
    #[error("the policy engine can't work: {what}")]
    Engine {
        /// What it could not do.
        what: &'static str,
        /// Why.
        source: Cause,
    },
    /// The bytes are not a component that this engine compiles.
    #[error("the policy can't be loaded: {what}")]
    Load {
        /// What is wrong with them, and what would be right.
        what: String,
        /// What the compiler says; `None` where it was not asked.
        source: Option<Cause>,
    },
    /// The component imports something. A policy is a pure function and is given nothing.
    #[error("the policy imports {}, and a policy may import nothing", list(imports))]
    Import {
        /// The names of its imports.
        imports: Vec<String>,
    },
    /// The policy is made for a version of the contract that this host does not run.
    #[error("the policy is made for {}, and this host runs {}", list(found), list(runs))]
    Version {
        /// The versions that it exports.
        found: Vec<String>,
        /// The versions that this host runs.
        runs: Vec<String>,
    },
    /// The policy breaks the contract: it lacks a function, or its answer is not what the contract says.
    #[error("the policy breaks the contract: {what}")]
    Contract {
        /// What is wrong, with the name of the interface or function.
        what: String,
        /// What wasmtime says; `None` where the engine found it.
        source: Option<Cause>,
    },
    /// The policy does not accept its settings.
    #[error("the policy does not accept its settings: {}", first_of(problems))]
    Settings {
        /// What is wrong with them, in the policy's words.
        problems: Vec<Problem>,
    },
    /// The policy can't read the question.
    #[error("the policy can't read the question: {}", problem.message)]
    Question {
        /// What is wrong with it, in the policy's words.
        problem: Problem,
    },
    /// The call took too long.
    #[error("{function} did not end within {limit:?}{}", if *started { "" } else { ", and never got a free slot" })]
    Deadline {
        /// The function that was called.
        function: &'static str,
        /// The time that it had.
        limit: Duration,
        /// Whether the call got a slot at all. If not, the others that held them are slow, and this policy may be good.
        started: bool,
    },
    /// The policy asked for more memory than it may have.
    #[error("{function} needs more memory than {limit} bytes")]
    Memory {
        /// The function that was called.
        function: &'static str,
        /// What it may have.
        limit: usize,
        /// What it asked for.
        source: Cause,
    },
    /// The policy broke off.
    #[error("{function} trapped")]
    Trap {
        /// The function that was called.
        function: &'static str,
        /// The trap, and the guest's stack where it happened.
        source: Cause,
    },
    /// The answer is larger than the host is willing to read.
    #[error("the answer of {function} takes more than {limit} bytes")]
    OversizedAnswer {
        /// The function that was called.
        function: &'static str,
        /// What the answer may take.
        limit: usize,
        /// What wasmtime says, where it was it that stopped reading.
        source: Option<Cause>,
    },
}

/// Who has to mend it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The author of the policy, or whoever chose it.
    Guest,
    /// Whoever runs or writes the host: its settings, its question, or the machine.
    Host,
}

impl Error {
    /// A stable name of what went wrong, for metrics and for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Engine { .. } => "engine",
            Self::Load { .. } => "load",
            Self::Import { .. } => "import",
            Self::Version { .. } => "version",
            Self::Contract { .. } => "contract",
            Self::Settings { .. } => "settings",
            Self::Question { .. } => "question",
            Self::Deadline { .. } => "deadline",
            Self::Memory { .. } => "memory",
            Self::Trap { .. } => "trap",
            Self::OversizedAnswer { .. } => "oversized-answer",
        }
    }

    /// Who has to mend it. Settings and questions come from the host's side; a call that never started was held up by others.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Engine { .. }
            | Self::Settings { .. }
            | Self::Question { .. }
            | Self::Deadline { started: false, .. } => Blame::Host,
            Self::Load { .. }
            | Self::Import { .. }
            | Self::Version { .. }
            | Self::Contract { .. }
            | Self::Deadline { started: true, .. }
            | Self::Memory { .. }
            | Self::Trap { .. }
            | Self::OversizedAnswer { .. } => Blame::Guest,
        }
    }
}

/// The texts, quoted and joined. A file may hold a thousand imports with long names: a few tell enough.
fn list(texts: &[String]) -> String {
    const SHOWN: usize = 8;
    const SHOWN_CHARS: usize = 200;
    let mut joined = String::new();
    for text in texts.iter().take(SHOWN) {
        if !joined.is_empty() {
            joined.push_str(", ");
        }
        joined.push('`');
        joined.extend(text.chars().take(SHOWN_CHARS));
        joined.push('`');
    }
    if texts.len() > SHOWN {
        joined.push_str(&format!(" and {} more", texts.len() - SHOWN));
    }
    joined
}

/// The first problem's own sentence; the others are in the error's field.
fn first_of(problems: &[Problem]) -> String {
    match problems {
        [] => "it does not say why".to_owned(),
        [only] => only.message.clone(),
        [first, others @ ..] => format!("{} (and {} more)", first.message, others.len()),
    }
}

#[cfg(test)]
mod tests;
