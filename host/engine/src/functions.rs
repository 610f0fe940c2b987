//! The functions of the contract as types, so that what is asked and what is answered can't be mixed up.

use wasmtime::component::{ComponentNamedList, Lift, Lower};
use zonewarden_contract::admission::{AdmissionAnswer, ConcernedVolume};
use zonewarden_contract::attachment::{Judgement, Observation};
use zonewarden_contract::identity::{NodeIdentity, NodeQuestion, VolumeIdentity, VolumeQuestion};
use zonewarden_contract::info::PolicyInfo;
use zonewarden_contract::labelling::{LabellingAnswer, LabellingQuestion};
use zonewarden_contract::placement::{ClassScore, Injection, NodeClasses, PodQuestion, Verdicts};
use zonewarden_contract::types::{Error, Problem, SelectorTerm, Setting, Topology, VolumeEvidence};

/// One function of the contract.
pub(crate) trait Function {
    /// Its parameters.
    type Params<'a>: ComponentNamedList + Lower;
    /// What it answers.
    type Answer: Lift;
    /// Its position in [`ALL`].
    const POSITION: usize;
    /// The interface that it belongs to.
    const INTERFACE: &'static str;
    /// Its name in the contract.
    const NAME: &'static str;
    /// Its name for people and metrics: `placement.filter`.
    const FULL_NAME: &'static str;
}

/// Something to do with every function of the contract, in their order.
pub(crate) trait ForEach {
    /// What ends it.
    type Error;
    /// Does it with one.
    fn visit<F: Function>(&mut self) -> Result<(), Self::Error>;
}

/// Declares the functions: the type, the interface and the name, the parameters, the answer.
macro_rules! functions {
    ($($(#[$doc:meta])* $function:ident = $interface:literal $name:literal ($($param:ty),*) -> $answer:ty;)*) => {
        /// The functions' positions.
        #[derive(Clone, Copy)]
        enum Position {
            $($function,)*
        }

        $(
            $(#[$doc])*
            pub(crate) struct $function;

            impl Function for $function {
                type Params<'a> = ($($param,)*);
                type Answer = $answer;
                const POSITION: usize = Position::$function as usize;
                const INTERFACE: &'static str = $interface;
                const NAME: &'static str = $name;
                const FULL_NAME: &'static str = concat!($interface, ".", $name);
            }
        )*

        /// Does something with every function of the contract, until it fails for one.
        pub(crate) fn for_each<V: ForEach>(visitor: &mut V) -> Result<(), V::Error> {
            $(visitor.visit::<$function>()?;)*
            Ok(())
        }
    };
}

functions! {
    /// Describes the policy.
    Describe = "info" "describe" (&'a [Setting]) -> Result<PolicyInfo, Error>;
    /// Checks settings.
    ValidateSettings = "info" "validate-settings" (&'a [Setting]) -> Vec<Problem>;
    /// Identifies volumes.
    IdentifyVolumes = "identity" "identify-volumes" (&'a [Setting], &'a [VolumeQuestion])
        -> Result<Vec<VolumeIdentity>, Error>;
    /// Identifies the instances of nodes.
    IdentifyNodes = "identity" "identify-nodes" (&'a [Setting], &'a [NodeQuestion]) -> Result<Vec<NodeIdentity>, Error>;
    /// Says what PersistentVolumes should carry.
    LabelVolumes = "labelling" "label-volumes" (&'a [Setting], &'a [Topology], &'a [LabellingQuestion])
        -> Result<Vec<LabellingAnswer>, Error>;
    /// Says which classes fit a pod's volumes.
    Filter = "placement" "filter" (&'a [Setting], &'a PodQuestion, &'a NodeClasses) -> Result<Verdicts, Error>;
    /// Rates classes.
    Score = "placement" "score" (&'a [Setting], &'a PodQuestion, &'a NodeClasses) -> Result<Vec<ClassScore>, Error>;
    /// Says which node affinity a pod needs.
    Inject = "placement" "inject" (&'a [Setting], &'a PodQuestion, Option<&'a [SelectorTerm]>) -> Result<Injection, Error>;
    /// Judges pairs of a volume and an instance.
    Judge = "attachment" "judge" (&'a [Setting], &'a [Observation]) -> Result<Vec<Judgement>, Error>;
    /// Says which volumes an AdmissionReview concerns.
    Concerns = "admission" "concerns" (&'a [Setting], &'a str) -> Result<Vec<ConcernedVolume>, Error>;
    /// Answers an AdmissionReview.
    Answer = "admission" "answer" (&'a [Setting], &'a str, &'a [VolumeEvidence], &'a [Topology])
        -> Result<AdmissionAnswer, Error>;
    /// Answers a question that is a JSON document.
    Evaluate = "json" "evaluate" (&'a str) -> Result<String, String>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    #[test]
    fn the_functions_are_those_of_the_contract() {
        struct Names(Vec<(usize, &'static str)>);
        impl ForEach for Names {
            type Error = Infallible;
            fn visit<F: Function>(&mut self) -> Result<(), Infallible> {
                self.0.push((F::POSITION, F::FULL_NAME));
                Ok(())
            }
        }
        let mut names = Names(Vec::new());
        let Ok(()) = for_each(&mut names);
        let expected = [
            "info.describe",
            "info.validate-settings",
            "identity.identify-volumes",
            "identity.identify-nodes",
            "labelling.label-volumes",
            "placement.filter",
            "placement.score",
            "placement.inject",
            "attachment.judge",
            "admission.concerns",
            "admission.answer",
            "json.evaluate",
        ];
        assert_eq!(names.0, expected.into_iter().enumerate().collect::<Vec<_>>());
        assert_eq!(expected.iter().collect::<BTreeSet<_>>().len(), expected.len());
    }
}
