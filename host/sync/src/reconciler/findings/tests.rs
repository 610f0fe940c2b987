//! What counts for the breaker.

use zonewarden_contract::attachment::Drift;
use zonewarden_contract::types::NodeName;

use super::*;
use crate::act::mk_finding;

#[test]
fn what_is_drifting_or_would_be_written_about_is_bad_and_what_is_proposed_in_vain_is_not() {
    let deed = Deed::Untaint { node: NodeName { node_name: "node-1".to_owned() }, uid: "node-uid".to_owned() };
    let act = Act { deed, reason: mk_finding("a-code", Some(Verdict::InSync)).reason, regarding: Vec::new() };
    let vain = vec![(Remedy::DeleteDeadAttachment, Withheld("instance-not-terminated"))];
    let drift = Verdict::Drift(Drift::VolumeDeleted);
    let cases = [
        ("a drift that only people can mend", Finding { ..mk_finding("a-code", Some(drift)) }, true),
        (
            "in sync, and written about",
            Finding { acts: vec![act.clone()], ..mk_finding("a-code", Some(Verdict::InSync)) },
            true,
        ),
        (
            "in sync, and proposed in vain",
            Finding { withheld: vain.clone(), ..mk_finding("a-code", Some(Verdict::InSync)) },
            false,
        ),
        (
            "on its way, and proposed in vain",
            Finding { withheld: vain, ..mk_finding("a-code", Some(Verdict::InProgress)) },
            false,
        ),
        ("nothing", mk_finding("a-code", Some(Verdict::Unknown)), false),
        ("a proven death", Finding { death: true, acts: vec![act], ..mk_finding("a-code", Some(drift)) }, false),
    ];
    for (what, finding, wanted) in cases {
        assert_eq!(is_bad(&finding), wanted, "{what}");
    }
}
