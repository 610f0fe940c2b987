//! A loaded policy, and one with settings, which answers.

use std::fmt;
use std::sync::Arc;

use zonewarden_contract::admission::{AdmissionAnswer, ConcernedVolume};
use zonewarden_contract::attachment::{Judgement, Observation};
use zonewarden_contract::identity::{NodeIdentity, NodeQuestion, VolumeIdentity, VolumeQuestion};
use zonewarden_contract::info::PolicyInfo;
use zonewarden_contract::labelling::{LabellingAnswer, LabellingQuestion};
use zonewarden_contract::placement::{ClassScore, Injection, NodeClasses, PodQuestion, Verdicts};
use zonewarden_contract::types::{SelectorTerm, Setting, Topology, VolumeEvidence};

use crate::answers::{decided, reasoned, same_length};
use crate::call::Loaded;
use crate::error::Error;
use crate::functions::{self, Function as _};
use crate::load;
use crate::texts;

/// A policy that was compiled and checked. A clone is the same policy and costs nothing.
#[derive(Clone)]
pub struct Policy {
    loaded: Arc<Loaded>,
}

impl Policy {
    pub(crate) fn new(loaded: Loaded) -> Self {
        Self { loaded: Arc::new(loaded) }
    }

    /// The SHA-256 of the component's file, in hexadecimal.
    pub fn digest(&self) -> &str {
        &self.loaded.digest
    }

    /// Asks the policy whether it accepts these settings, and to describe itself under them.
    ///
    /// # Errors
    /// [`Error::Settings`] with the policy's own words where it does not accept them; else what a call can fail with.
    pub fn with_settings(&self, settings: Vec<Setting>) -> Result<ConfiguredPolicy, Error> {
        let problems = self.loaded.call::<functions::ValidateSettings>((&settings,))?;
        if !problems.is_empty() {
            return Err(Error::Settings { problems });
        }
        let info = decided(self.loaded.call::<functions::Describe>((&settings,))?)?;
        let loaded = Arc::clone(&self.loaded);
        let fingerprint = fingerprint(&loaded.digest, &settings);
        Ok(ConfiguredPolicy { loaded, configuration: Arc::new(Configuration { settings, fingerprint, info }) })
    }

    /// Answers a question of the contract's `json` interface, which carries its own settings: `Ok` with the JSON of the
    /// success or, inside it, `Err` with the JSON of the contract's error.
    ///
    /// # Errors
    /// What a call can fail with.
    pub fn evaluate(&self, request: &str) -> Result<Result<String, String>, Error> {
        self.loaded.call::<functions::Evaluate>((request,))
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy").field("digest", &self.digest()).finish_non_exhaustive()
    }
}

/// A policy with settings that it accepts. A clone is the same policy and costs nothing.
///
/// Every method is one function of the contract, whose comments in `wit/` say what is asked and answered. Each answers from an
/// instance of its own. Each can fail with [`Error::Deadline`], [`Error::Memory`], [`Error::Trap`],
/// [`Error::OversizedAnswer`], [`Error::Contract`], [`Error::Settings`] and [`Error::Question`].
#[derive(Clone)]
pub struct ConfiguredPolicy {
    loaded: Arc<Loaded>,
    configuration: Arc<Configuration>,
}

/// What was settled when the policy got its settings.
struct Configuration {
    settings: Vec<Setting>,
    fingerprint: String,
    info: PolicyInfo,
}

impl ConfiguredPolicy {
    /// The SHA-256 of the component's file, in hexadecimal.
    pub fn digest(&self) -> &str {
        &self.loaded.digest
    }

    /// What an answer depends on beside its question, as one text: the component and the settings. What was remembered under
    /// another fingerprint has to be asked anew.
    pub fn fingerprint(&self) -> &str {
        &self.configuration.fingerprint
    }

    /// How the policy describes itself under its settings.
    pub fn info(&self) -> &PolicyInfo {
        &self.configuration.info
    }

    /// Its settings.
    pub fn settings(&self) -> &[Setting] {
        &self.configuration.settings
    }

    /// Identifies volumes. A canonical id that does not occur as a whole in the text that it was made from is not accepted:
    /// that element becomes a rejection by the rule `canonical-not-in-text`.
    pub fn identify_volumes(&self, volumes: &[VolumeQuestion]) -> Result<Vec<VolumeIdentity>, Error> {
        type Function = functions::IdentifyVolumes;
        let answer = decided(self.loaded.call::<Function>((self.settings(), volumes))?)?;
        let mut identities = same_length(answer, volumes.len(), Function::FULL_NAME)?;
        texts::hold_volumes(&mut identities, volumes);
        Ok(identities)
    }

    /// Identifies the instances of nodes. An instance that does not occur as a whole in the text that the policy says it was
    /// found by is not accepted: that element becomes unresolved by the rule `canonical-not-in-text`.
    pub fn identify_nodes(&self, nodes: &[NodeQuestion]) -> Result<Vec<NodeIdentity>, Error> {
        type Function = functions::IdentifyNodes;
        let answer = decided(self.loaded.call::<Function>((self.settings(), nodes))?)?;
        let mut identities = same_length(answer, nodes.len(), Function::FULL_NAME)?;
        texts::hold_nodes(&mut identities, nodes);
        Ok(identities)
    }

    /// Says what these PersistentVolumes should carry.
    pub fn label_volumes(
        &self,
        topologies: &[Topology],
        volumes: &[LabellingQuestion],
    ) -> Result<Vec<LabellingAnswer>, Error> {
        type Function = functions::LabelVolumes;
        let answer = decided(self.loaded.call::<Function>((self.settings(), topologies, volumes))?)?;
        same_length(answer, volumes.len(), Function::FULL_NAME)
    }

    /// Says which classes fit the pod's volumes. Each verdict names a reason, and none that there is not.
    pub fn filter(&self, pod: &PodQuestion, nodes: &NodeClasses) -> Result<Verdicts, Error> {
        type Function = functions::Filter;
        let answer = decided(self.loaded.call::<Function>((self.settings(), pod, nodes))?)?;
        reasoned(answer, nodes.classes.len(), Function::FULL_NAME, self.loaded.runtime.limits.answer_bytes)
    }

    /// Rates classes. No score is above 10, whatever the policy says.
    pub fn score(&self, pod: &PodQuestion, nodes: &NodeClasses) -> Result<Vec<ClassScore>, Error> {
        type Function = functions::Score;
        /// The best score of the contract. A scheduler would take more as more.
        const BEST: u8 = 10;
        let answer = decided(self.loaded.call::<Function>((self.settings(), pod, nodes))?)?;
        let mut scores = same_length(answer, nodes.classes.len(), Function::FULL_NAME)?;
        for score in &mut scores {
            score.score = score.score.min(BEST);
        }
        Ok(scores)
    }

    /// Says which node affinity the pod needs; `terms` are the pod's own required terms, `None` where it has none.
    pub fn inject(&self, pod: &PodQuestion, terms: Option<&[SelectorTerm]>) -> Result<Injection, Error> {
        decided(self.loaded.call::<functions::Inject>((self.settings(), pod, terms))?)
    }

    /// Judges pairs of a volume and an instance.
    pub fn judge(&self, observations: &[Observation]) -> Result<Vec<Judgement>, Error> {
        type Function = functions::Judge;
        let answer = decided(self.loaded.call::<Function>((self.settings(), observations))?)?;
        same_length(answer, observations.len(), Function::FULL_NAME)
    }

    /// Says which volumes the host should look up for this AdmissionReview.
    pub fn concerns(&self, review: &str) -> Result<Vec<ConcernedVolume>, Error> {
        decided(self.loaded.call::<functions::Concerns>((self.settings(), review))?)
    }

    /// Answers an AdmissionReview; `evidence` belongs to what `concerns` answered, in that order.
    pub fn answer(
        &self,
        review: &str,
        evidence: &[VolumeEvidence],
        topologies: &[Topology],
    ) -> Result<AdmissionAnswer, Error> {
        decided(self.loaded.call::<functions::Answer>((self.settings(), review, evidence, topologies))?)
    }

    /// Answers a question of the contract's `json` interface. The request carries its own settings: these here play no part.
    pub fn evaluate(&self, request: &str) -> Result<Result<String, String>, Error> {
        self.loaded.call::<functions::Evaluate>((request,))
    }
}

impl fmt::Debug for ConfiguredPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfiguredPolicy")
            .field("digest", &self.digest())
            .field("settings", &self.settings())
            .field("info", self.info())
            .finish_non_exhaustive()
    }
}

/// The SHA-256 of a component's digest and of settings, in hexadecimal. Each text goes in with its length, so that no two lists
/// of settings read the same.
pub(crate) fn fingerprint(digest: &str, settings: &[Setting]) -> String {
    let mut read = digest.as_bytes().to_vec();
    for text in settings.iter().flat_map(|setting| [&setting.key, &setting.value]) {
        read.extend(u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
        read.extend(text.as_bytes());
    }
    load::digest(&read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_tells_every_component_and_every_list_of_settings_apart() {
        let of = |digest: &str, settings: &[(&str, &str)]| {
            let settings: Vec<_> = settings
                .iter()
                .map(|(key, value)| Setting { key: (*key).to_owned(), value: (*value).to_owned() })
                .collect();
            fingerprint(digest, &settings)
        };
        let all = [
            of("a", &[]),
            of("b", &[]),
            of("a", &[("x", "yz")]),
            of("a", &[("xy", "z")]),
            of("a", &[("x", "y"), ("z", "")]),
            of("a", &[("z", ""), ("x", "y")]),
            of("a", &[("", "")]),
        ];
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len(), "{all:?}");
        assert_eq!(of("a", &[("x", "yz")]), all[2]);
    }

    #[test]
    fn a_policy_can_be_handed_to_any_thread() {
        fn is_shared<T: Clone + Send + Sync + fmt::Debug + 'static>() {}
        is_shared::<Policy>();
        is_shared::<ConfiguredPolicy>();
        is_shared::<crate::Engine>();
    }
}
