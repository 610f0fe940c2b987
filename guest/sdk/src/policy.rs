//! The trait that a policy implements.

use std::marker::PhantomData;

use zonewarden_bindings::admission::{AdmissionAnswer, ConcernedVolume};
use zonewarden_bindings::attachment::{Judgement, Observation};
use zonewarden_bindings::identity::{NodeIdentity, NodeQuestion, VolumeIdentity, VolumeQuestion};
use zonewarden_bindings::info::PolicyInfo;
use zonewarden_bindings::labelling::{LabellingAnswer, LabellingQuestion};
use zonewarden_bindings::placement::{ClassScore, Injection, PodQuestion, Verdicts};
use zonewarden_bindings::types::{Error, Problem, Remedy, SelectorTerm, Setting, Topology, VolumeEvidence};
use zonewarden_rules::placement::Nodes;
use zonewarden_rules::settings::{self, Settings};
use zonewarden_rules::{admission, attachment, identity, keys, labelling, placement};

/// A policy. Every method has the standard rules as its default; the questions are those of the contract, one element of a
/// batch at a time where elements do not depend on each other.
///
/// Settings are parsed once a call, by [`Policy::settings`].
pub trait Policy {
    /// The policy's name, in kebab-case.
    const NAME: &'static str;
    /// The policy's version, by semantic versioning.
    const VERSION: &'static str;

    /// The settings, as pairs of key and value, that hold where the operator gives none and differ from the standard ones.
    const DEFAULTS: &'static [(&'static str, &'static str)] = &[];

    /// Reads the operator's settings.
    ///
    /// # Errors
    /// `Error::Settings` with every problem there is.
    fn settings(given: &[Setting]) -> Result<Settings, Error> {
        Settings::parse_over(Self::DEFAULTS, given)
    }

    /// Describes the policy.
    #[must_use]
    fn describe(settings: &Settings) -> PolicyInfo {
        let mut remedies = vec![Remedy::SetLabels, Remedy::SetNodeAffinity];
        remedies.extend(attachment::REMEDIES);
        PolicyInfo {
            name: Self::NAME.to_owned(),
            version: Self::VERSION.to_owned(),
            csi_drivers: vec![settings.csi_driver.clone()],
            in_tree_plugins: vec![keys::EBS_PLUGIN.to_owned()],
            node_label_keys: keys::NODE_LABELS_READ.iter().map(|key| (*key).to_owned()).collect(),
            annotation_keys: vec![keys::PROVISIONED_BY.to_owned()],
            volume_attribute_keys: keys::VOLUME_ATTRIBUTES_READ.map(str::to_owned).to_vec(),
            settings_schema: settings::schema(Self::DEFAULTS),
            remedies,
        }
    }

    /// Checks settings.
    #[must_use]
    fn validate_settings(given: &[Setting]) -> Vec<Problem> {
        match Self::settings(given) {
            Ok(_) => Vec::new(),
            Err(Error::Settings(problems)) => problems,
            Err(Error::Question(problem)) => vec![problem],
        }
    }

    /// Identifies a volume.
    #[must_use]
    fn identify_volume(settings: &Settings, question: &VolumeQuestion) -> VolumeIdentity {
        identity::identify_volume(settings, question)
    }

    /// Identifies the instance behind a node.
    #[must_use]
    fn identify_node(settings: &Settings, question: &NodeQuestion) -> NodeIdentity {
        identity::identify_node(settings, question)
    }

    /// Says what a PersistentVolume should carry.
    #[must_use]
    fn label_volume(settings: &Settings, topologies: &[Topology], question: &LabellingQuestion) -> LabellingAnswer {
        labelling::label_volume(settings, topologies, question)
    }

    /// Says which classes of nodes fit a pod's volumes: one verdict for each class, in their order.
    #[must_use]
    fn filter(settings: &Settings, pod: &PodQuestion, nodes: &Nodes<'_>) -> Verdicts {
        placement::filter(settings, pod, nodes)
    }

    /// Rates classes of nodes: one score for each class, in their order.
    #[must_use]
    fn score(settings: &Settings, pod: &PodQuestion, nodes: &Nodes<'_>) -> Vec<ClassScore> {
        placement::score(settings, pod, nodes)
    }

    /// Says which node affinity a pod needs.
    #[must_use]
    fn inject(settings: &Settings, pod: &PodQuestion, terms: Option<&[SelectorTerm]>) -> Injection {
        placement::inject(settings, pod, terms)
    }

    /// Judges a pair of a volume and an instance.
    #[must_use]
    fn judge(settings: &Settings, observation: &Observation) -> Judgement {
        attachment::judge(settings, observation)
    }

    /// Says which volumes an AdmissionReview concerns.
    ///
    /// # Errors
    /// `Error::Question` where the text is no AdmissionReview.
    fn concerns(settings: &Settings, review: &str) -> Result<Vec<ConcernedVolume>, Error> {
        admission::concerns(settings, review)
    }

    /// Answers an AdmissionReview, by this policy's own [`Policy::identify_volume`], [`Policy::label_volume`] and
    /// [`Policy::inject`].
    ///
    /// # Errors
    /// `Error::Question` where the text is no AdmissionReview, or the evidence does not belong to it.
    fn answer(
        settings: &Settings,
        review: &str,
        evidence: &[VolumeEvidence],
        topologies: &[Topology],
    ) -> Result<AdmissionAnswer, Error>
    where
        Self: Sized,
    {
        admission::answer(settings, review, evidence, topologies, &Own::<Self> { settings, policy: PhantomData })
    }
}

/// A policy's own rules, as admission asks for them.
struct Own<'a, P> {
    settings: &'a Settings,
    policy: PhantomData<P>,
}

impl<P: Policy> admission::Rules for Own<'_, P> {
    fn identify(&self, question: &VolumeQuestion) -> VolumeIdentity {
        P::identify_volume(self.settings, question)
    }

    fn label(&self, topologies: &[Topology], question: &LabellingQuestion) -> LabellingAnswer {
        P::label_volume(self.settings, topologies, question)
    }

    fn inject(&self, pod: &PodQuestion, terms: Option<&[SelectorTerm]>) -> Injection {
        P::inject(self.settings, pod, terms)
    }
}
