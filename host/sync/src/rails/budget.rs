//! How much may be done in a minute. One unit is one instance's whole recovery, or one other remedy.

use std::collections::HashMap;
use std::time::Duration;

use zonewarden_contract::types::InstanceId;

use crate::clock::Moment;

const WINDOW: Duration = Duration::from_secs(60);
/// Recoveries of proven deaths in a minute.
const RECOVERIES: usize = 60;
/// Other remedies about attachments in a minute.
const OTHERS: usize = 5;
/// Writes of labels and affinity in a minute: they take nothing from anybody, and a cluster has thousands to begin with.
const LABELS: usize = 600;
/// A recovery is over when nothing was done about the instance for so long.
const RECOVERY: Duration = Duration::from_secs(1_800);

/// What was spent lately.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    recoveries: Vec<Moment>,
    others: Vec<Moment>,
    labels: Vec<Moment>,
    /// The instances that a unit was spent for, and when something was last done about them.
    paid: HashMap<InstanceId, Moment>,
}

impl Budget {
    /// Spends a unit for an act about an instance whose death is proven, unless one was spent already.
    pub(crate) fn recover(&mut self, instance: &InstanceId, now: Moment) -> bool {
        self.paid.retain(|_, last| now - *last < RECOVERY);
        if let Some(last) = self.paid.get_mut(instance) {
            *last = now;
            return true;
        }
        let granted = spend(&mut self.recoveries, RECOVERIES, now);
        if granted {
            self.paid.insert(instance.clone(), now);
        }
        granted
    }

    /// Gives back what was spent last for an act that then was not done.
    pub(crate) fn refund_other(&mut self) {
        self.others.pop();
    }

    /// Spends a unit for a label or an affinity.
    pub(crate) fn label(&mut self, now: Moment) -> bool {
        spend(&mut self.labels, LABELS, now)
    }

    /// Spends a unit for any other act.
    pub(crate) fn other(&mut self, now: Moment) -> bool {
        spend(&mut self.others, OTHERS, now)
    }
}

fn spend(spent: &mut Vec<Moment>, limit: usize, now: Moment) -> bool {
    spent.retain(|moment| now - *moment < WINDOW);
    let granted = spent.len() < limit;
    if granted {
        spent.push(now);
    }
    granted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment(Duration::from_secs(seconds))
    }

    fn instance(number: u32) -> InstanceId {
        InstanceId { instance_id: format!("i-{number}") }
    }

    #[test]
    fn sixty_recoveries_a_minute_each_with_all_its_acts() {
        let mut budget = Budget::default();
        for number in 0..60 {
            assert!(budget.recover(&instance(number), at(1)));
            assert!(budget.recover(&instance(number), at(2)));
        }
        assert!(!budget.recover(&instance(60), at(60)));
        assert!(budget.recover(&instance(59), at(60)));
        assert!(budget.recover(&instance(60), at(61)));
    }

    #[test]
    fn five_others_a_minute() {
        let mut budget = Budget::default();
        let granted: Vec<bool> = (0..7).map(|_| budget.other(at(10))).collect();
        assert_eq!(granted, [true, true, true, true, true, false, false]);
        budget.refund_other();
        assert!(budget.other(at(11)));
        assert!(!budget.other(at(69)));
        assert!(budget.other(at(70)));
    }
}
