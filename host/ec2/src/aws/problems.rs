//! What went wrong in a sweep, for people: one sentence for each cause, with how much it costs.

use std::collections::BTreeMap;

use zonewarden_documents::{Code, Place, Problem};

use super::bulk::Swept;
use super::describe::Describe;
use super::fault::Fault;
use crate::verify::{Evidence, UnknownCause};

/// Ids that a sentence names before it only counts.
const NAMED_IDS: usize = 3;

/// The problems of one operation's sweep. `place` is the region.
pub(super) fn of_sweep<D: Describe>(swept: &Swept<D::Record>, place: &Place) -> Vec<Problem> {
    let mut ids: BTreeMap<&str, (UnknownCause, Vec<&str>)> = BTreeMap::new();
    for (id, evidence) in &swept.evidence {
        if let Evidence::Unknown(cause) = evidence {
            ids.entry(cause.as_str()).or_insert_with(|| (*cause, vec![])).1.push(id);
        }
    }
    let problem = |(cause, mut ids): (UnknownCause, Vec<&str>)| {
        ids.sort_unstable();
        let detail = swept.faults.iter().find(|fault| fault.cause == cause).map(|fault| &*fault.detail);
        let cost = format!("{} of {} {} are unknown", ids.len(), swept.evidence.len(), D::RECORDS);
        problem(D::OPERATION, cause, &[&cost, &listed(&ids)], detail, place)
    };
    ids.into_values().map(problem).collect()
}

/// The problem of a question about names.
pub(super) fn of_names(fault: &Fault, place: &Place) -> Problem {
    let cost = "whether other instances bear the names of Nodes that are gone is unknown";
    problem("DescribeInstances", fault.cause, &[cost], Some(&fault.detail), place)
}

fn problem(operation: &str, cause: UnknownCause, cost: &[&str], detail: Option<&str>, place: &Place) -> Problem {
    let (code, why) = match cause {
        UnknownCause::Throttled => (Code::Throttled, "EC2 throttles the account; what is left comes first next time"),
        UnknownCause::Denied => {
            (Code::Denied, "EC2 does not accept the credentials; are they there, not expired, and allowed to ask this?")
        }
        UnknownCause::Unavailable => (Code::Unavailable, "EC2 gave no answer that can be read"),
        UnknownCause::Rejected => (Code::Rejected, "EC2 rejects them; are they ids, in the objects that hold them?"),
        UnknownCause::ApiFault => {
            (Code::Rejected, "EC2's answer can't be believed; are the region and the account the right ones?")
        }
        UnknownCause::OutOfTime => {
            (Code::Partial, "the time for the sweep was over; what is left comes first next time")
        }
        UnknownCause::Incomplete => (Code::Partial, "EC2's pages ended early"),
        UnknownCause::NotListed
        | UnknownCause::NotAsked
        | UnknownCause::TooOld
        | UnknownCause::Contradiction
        | UnknownCause::Uncertain => (Code::Partial, "EC2 left them out of its answer and did not say why"),
    };
    let detail = detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
    Problem::error(code, place.clone(), format!("{}: {why}{detail}", cost.concat())).in_object(operation)
}

/// The first ids in brackets: ` (vol-1, vol-2 and 5 more)`.
fn listed(ids: &[&str]) -> String {
    let (named, more) = ids.split_at(ids.len().min(NAMED_IDS));
    match more.len() {
        0 => format!(" ({})", named.join(", ")),
        count => format!(" ({} and {count} more)", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::aws::describe::Volumes;
    use crate::records::Volume;

    #[test]
    fn each_cause_is_told_once_with_its_cost() {
        let unknown = |cause| Evidence::<Volume>::Unknown(cause);
        let missing = Evidence::Missing { observed_at: Timestamp::UNIX_EPOCH, absent_by_filter: true };
        let throttled = (1..=5).map(|number| (format!("vol-{number}"), unknown(UnknownCause::Throttled)));
        let others = [("disk-1".to_owned(), unknown(UnknownCause::Rejected)), ("vol-9".to_owned(), missing)];
        let swept = Swept {
            evidence: throttled.chain(others).collect(),
            faults: vec![Fault::new(UnknownCause::Throttled, "RequestLimitExceeded: Request limit exceeded")],
        };
        let problems = of_sweep::<Volumes>(&swept, &Place::file("EC2 in eu-west-1"));
        let texts: Vec<_> = problems.iter().map(|problem| (problem.code, problem.to_string())).collect();
        let expected = [
            (
                Code::Rejected,
                "EC2 in eu-west-1: DescribeVolumes: 1 of 7 volumes are unknown (disk-1): EC2 rejects them; are they ids, \
                 in the objects that hold them?",
            ),
            (
                Code::Throttled,
                "EC2 in eu-west-1: DescribeVolumes: 5 of 7 volumes are unknown (vol-1, vol-2, vol-3 and 2 more): EC2 \
                 throttles the account; what is left comes first next time (RequestLimitExceeded: Request limit exceeded)",
            ),
        ];
        assert_eq!(texts, expected.map(|(code, text)| (code, text.to_owned())));
    }
}
