//! What an answer is held to before anybody sees it, whatever the policy says.

use zonewarden_contract::identity::{VolumeIdentity, VolumeQuestion};
use zonewarden_contract::types::{self, Problem, VolumeSource};

use crate::error::Error;

/// The rule of a canonical id that does not occur in the text it was made from.
const CANONICAL_NOT_IN_TEXT: &str = "canonical-not-in-text";

/// Turns the contract's own error into ours: the policy could not decide.
pub(crate) fn decided<T>(answer: Result<T, types::Error>) -> Result<T, Error> {
    answer.map_err(|error| match error {
        types::Error::Settings(problems) => Error::Settings { problems },
        types::Error::Question(problem) => Error::Question { problem },
    })
}

/// A list that answers a list has the same length; which element answers which can't be told otherwise.
pub(crate) fn same_length<T>(answers: Vec<T>, questions: usize, function: &'static str) -> Result<Vec<T>, Error> {
    if answers.len() == questions {
        return Ok(answers);
    }
    let what = format!("{function} answers {} elements to {questions}", answers.len());
    Err(Error::Contract { what, source: None })
}

/// Accepts a canonical id only where it occurs literally in the text that it was made from, so that no policy can turn one
/// volume into another. An element that breaks this becomes a rejection; the others stand.
pub(crate) fn hold_to_their_texts(identities: &mut [VolumeIdentity], questions: &[VolumeQuestion]) {
    for (identity, question) in identities.iter_mut().zip(questions) {
        let VolumeIdentity::Identified(identified) = identity else { continue };
        let (subject, text) = named_by(&question.source);
        let canonical = &identified.volume.aws_volume_id;
        // An empty text occurs in every other one, and names no volume.
        if !canonical.is_empty() && text.contains(canonical.as_str()) {
            continue;
        }
        let message = format!(
            "the policy reads {text:?} as the volume {canonical:?}, which does not occur in it, so the host does not accept it"
        );
        *identity = VolumeIdentity::Rejected(Problem {
            subject: subject.to_owned(),
            text: text.to_owned(),
            rule: CANONICAL_NOT_IN_TEXT.to_owned(),
            message,
            accepted: Vec::new(),
        });
    }
}

/// The field and the text of a source that name the volume.
fn named_by(source: &VolumeSource) -> (&'static str, &str) {
    match source {
        VolumeSource::AwsElasticBlockStore(id) => ("awsElasticBlockStore.volumeID", &id.kubernetes_volume_id),
        VolumeSource::GcePersistentDisk(id) => ("gcePersistentDisk.pdName", &id.kubernetes_volume_id),
        VolumeSource::Csi(csi) => ("csi.volumeHandle", &csi.volume_handle.kubernetes_volume_id),
        // No text names a volume here, so that none can be identified.
        VolumeSource::Other(_) => ("source", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zonewarden_contract::identity::IdentifiedVolume;
    use zonewarden_contract::types::{AwsVolumeId, CsiSource, KubernetesVolumeId, Reason};

    fn id(text: &str) -> KubernetesVolumeId {
        KubernetesVolumeId { kubernetes_volume_id: text.to_owned() }
    }

    fn identified(canonical: &str) -> VolumeIdentity {
        VolumeIdentity::Identified(IdentifiedVolume {
            volume: AwsVolumeId { aws_volume_id: canonical.to_owned() },
            zone_hint: None,
            askable: true,
            warnings: Vec::new(),
        })
    }

    fn foreign() -> VolumeIdentity {
        VolumeIdentity::Foreign(Reason { code: "foreign-driver".to_owned(), message: "not ours".to_owned() })
    }

    fn question(source: VolumeSource) -> VolumeQuestion {
        VolumeQuestion { source, ec2_zone: None }
    }

    fn rejected(subject: &str, text: &str, canonical: &str) -> VolumeIdentity {
        VolumeIdentity::Rejected(Problem {
            subject: subject.to_owned(),
            text: text.to_owned(),
            rule: "canonical-not-in-text".to_owned(),
            message: format!(
                "the policy reads \"{text}\" as the volume \"{canonical}\", which does not occur in it, so the host does not \
                 accept it"
            ),
            accepted: Vec::new(),
        })
    }

    #[test]
    fn a_canonical_id_has_to_occur_in_its_text_and_a_bad_element_spoils_no_other() {
        let csi = |handle: &str| VolumeSource::Csi(CsiSource { driver: "d".to_owned(), volume_handle: id(handle) });
        let rows = [
            (
                VolumeSource::AwsElasticBlockStore(id("aws://us-east-1a/vol-1")),
                identified("vol-1"),
                identified("vol-1"),
            ),
            (
                VolumeSource::AwsElasticBlockStore(id("vol-1")),
                identified("vol-2"),
                rejected("awsElasticBlockStore.volumeID", "vol-1", "vol-2"),
            ),
            (csi("vol-3"), identified("vol-3"), identified("vol-3")),
            (csi("VOL-3"), identified("vol-3"), rejected("csi.volumeHandle", "VOL-3", "vol-3")),
            (csi("vol-4"), identified(""), rejected("csi.volumeHandle", "vol-4", "")),
            (csi("x"), foreign(), foreign()),
            (
                VolumeSource::GcePersistentDisk(id("disk")),
                identified("vol-5"),
                rejected("gcePersistentDisk.pdName", "disk", "vol-5"),
            ),
            (VolumeSource::Other("vol-6".to_owned()), identified("vol-6"), rejected("source", "", "vol-6")),
        ];
        let questions: Vec<_> = rows.iter().map(|(source, ..)| question(source.clone())).collect();
        let mut identities: Vec<_> = rows.iter().map(|(_, answered, _)| answered.clone()).collect();
        hold_to_their_texts(&mut identities, &questions);
        let expected: Vec<_> = rows.into_iter().map(|(.., expected)| expected).collect();
        assert_eq!(identities, expected);
    }

    #[test]
    fn a_list_has_the_length_of_its_question() {
        assert_eq!(same_length(vec![1, 2], 2, "placement.filter").expect("the lengths fit"), [1, 2]);
        let error = same_length(vec![1], 2, "placement.filter").expect_err("one is missing");
        assert_eq!(error.kind(), "contract");
        assert_eq!(error.to_string(), "the policy breaks the contract: placement.filter answers 1 elements to 2");
    }

    #[test]
    fn an_error_of_the_contract_keeps_its_problems() {
        let problem = Problem {
            subject: "review".to_owned(),
            text: "{".to_owned(),
            rule: "not-json".to_owned(),
            message: "it is not JSON".to_owned(),
            accepted: Vec::new(),
        };
        let Err(Error::Question { problem: kept }) = decided::<()>(Err(types::Error::Question(problem.clone()))) else {
            panic!("a question that can't be read stays one");
        };
        assert_eq!(kept, problem);
        let Err(Error::Settings { problems }) = decided::<()>(Err(types::Error::Settings(vec![problem.clone()])))
        else {
            panic!("settings that are not good stay so");
        };
        assert_eq!(problems, [problem]);
    }
}
