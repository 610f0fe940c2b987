//! The command line. Every flag has an environment variable, and a configuration file is the third way (`config.rs`).

mod duration;
pub(crate) mod run;

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Keeps EBS-backed pods and their volumes in one availability zone, and what Kubernetes believes about attachments true to
/// EC2.
#[derive(Debug, Parser)]
#[command(name = "zonewarden", version, max_term_width = 110)]
pub(crate) struct Cli {
    /// A YAML or JSON file with defaults for the flags, by their long names
    #[arg(long, global = true, env = "ZONEWARDEN_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read the world once and print what is wrong and what would be done
    ///
    /// Exit status: 0 nothing found, 1 something found or a part that could not be read, 2 nothing could be answered.
    Check(CheckArgs),
    /// Tell one object's story in words
    ///
    /// Exit status: 0 told, 1 told with findings, 2 there is no such object or nothing could be answered.
    Explain(ExplainArgs),
    /// Watch the cluster, poll EC2, and keep what Kubernetes believes true to it
    ///
    /// Exit status: 0 ended by a signal, 2 could not begin.
    Run(Box<run::RunArgs>),
    /// Look into a policy component, or run its cases
    Policy(PolicyArgs),
}

/// Where the world is read from: a folder, files, or a live cluster and EC2, which no flag has to name.
#[derive(Debug, Args)]
pub(crate) struct WorldArgs {
    /// A folder with cluster/*.{yaml,yml,json} and ec2/{volumes,instances}.json
    #[arg(long, env = "ZONEWARDEN_WORLD", value_name = "DIR",
          conflicts_with_all = ["cluster", "volumes", "instances", "live"])]
    pub(crate) world: Option<PathBuf>,
    /// What `kubectl get … -o yaml|json` printed; repeatable, - is standard input
    #[arg(long, env = "ZONEWARDEN_CLUSTER", value_name = "FILE", value_delimiter = ',', conflicts_with = "live")]
    pub(crate) cluster: Vec<PathBuf>,
    /// What `aws ec2 describe-volumes` printed; - is standard input
    #[arg(long, env = "ZONEWARDEN_VOLUMES", value_name = "FILE", conflicts_with = "live")]
    pub(crate) volumes: Option<PathBuf>,
    /// What `aws ec2 describe-instances` printed; - is standard input
    #[arg(long, env = "ZONEWARDEN_INSTANCES", value_name = "FILE", conflicts_with = "live")]
    pub(crate) instances: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
}

/// Which cluster and which account are read, where that is not the current one.
#[derive(Debug, Args)]
#[group(id = "live", multiple = true)]
pub(crate) struct LiveArgs {
    /// The kubeconfig; else that of KUBECONFIG, ~/.kube/config, or the pod's own account
    #[arg(long, env = "ZONEWARDEN_KUBECONFIG", value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig; else its current one
    #[arg(long, env = "ZONEWARDEN_CONTEXT", value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// The region whose EC2 is asked; else that of the AWS environment
    #[arg(long, env = "ZONEWARDEN_REGION", value_name = "REGION")]
    pub(crate) region: Option<String>,
    /// Where EC2 is asked, in place of its public endpoint
    #[arg(long, env = "ZONEWARDEN_ENDPOINT_URL", value_name = "URL")]
    pub(crate) endpoint_url: Option<String>,
    /// The profile of the AWS configuration; else that of the AWS environment
    #[arg(long, env = "ZONEWARDEN_PROFILE", value_name = "NAME")]
    pub(crate) profile: Option<String>,
}

impl LiveArgs {
    /// Whether any flag asks for a live world.
    #[cfg(test)]
    pub(crate) fn is_named(&self) -> bool {
        let Self { kubeconfig, context, region, endpoint_url, profile } = self;
        kubeconfig.is_some() || [context, region, endpoint_url, profile].into_iter().any(Option::is_some)
    }
}

/// Which policy decides.
#[derive(Debug, Args)]
pub(crate) struct DeciderArgs {
    /// A policy component instead of the built-in one
    #[arg(long, env = "ZONEWARDEN_POLICY", value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// A YAML or JSON file with the policy's settings: one map of texts
    #[arg(long, env = "ZONEWARDEN_SETTINGS", value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Where compiled policies are kept; empty: nowhere
    // clap's own parser of paths refuses the empty text.
    #[arg(long, env = "ZONEWARDEN_CACHE_DIR", value_name = "DIR",
          value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) cache_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    #[command(flatten)]
    pub(crate) decider: DeciderArgs,
    /// How the answer is printed
    #[arg(short, long, env = "ZONEWARDEN_OUTPUT", value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
    /// Name every node of every pod, not five of a group
    #[arg(long, env = "ZONEWARDEN_ALL_NODES")]
    pub(crate) all_nodes: bool,
}

/// The forms of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// One line an object
    Table,
    /// One line an object, with all columns and reasons
    Wide,
    /// JSON, as docs/check.schema.json describes it
    Json,
    /// The same as YAML
    Yaml,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(subcommand)]
    pub(crate) subject: Subject,
}

#[derive(Debug, Args)]
pub(crate) struct SubjectArgs {
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    #[command(flatten)]
    pub(crate) decider: DeciderArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Subject {
    /// Which volumes the pod has, in which zones, and which nodes fit
    Pod {
        /// The pod, as NAMESPACE/NAME
        #[arg(value_name = "NAMESPACE/NAME")]
        pod: String,
        #[command(flatten)]
        subject: SubjectArgs,
    },
    /// Where the volume is, and who names and holds it
    Volume {
        /// The volume's id in any spelling, or a PersistentVolume's name
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        subject: SubjectArgs,
    },
    /// Which instance the node is, and what it holds
    Node {
        /// The Node's name
        #[arg(value_name = "NAME")]
        node: String,
        #[command(flatten)]
        subject: SubjectArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Print what a component is and reads, also of one that the host refuses
    ///
    /// Exit status: 0 the host runs it, 1 the host refuses it, 2 it can't be read.
    Inspect {
        /// The component
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        decider: DeciderArgs,
        /// How the answer is printed
        #[arg(short, long, env = "ZONEWARDEN_OUTPUT", value_enum, default_value_t = Output::Table)]
        output: Output,
    },
    /// Run declarative cases on a component
    ///
    /// Exit status: 0 all pass, 1 some fail, 2 the cases can't be read or there are none.
    Test {
        /// A file of cases, or a folder of such files
        #[arg(value_name = "DIR|FILE")]
        path: PathBuf,
        #[command(flatten)]
        decider: DeciderArgs,
    },
}
