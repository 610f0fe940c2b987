//! The rules, called natively through the SDK, give the corpus' answers.

use zonewarden_conformance_tests::{Answer, check, load};
use zonewarden_policy_ebs::Ebs;

#[test]
fn the_rules_answer_natively() {
    check("native", &load(), |case| Some(Answer::from(zonewarden_sdk::evaluate::<Ebs>(&case.request))));
}
