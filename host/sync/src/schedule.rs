//! When what is asked.

use std::time::Duration;

use zonewarden_ec2::{Evidence, Question, Sweep, UnknownCause};

use crate::options::Intervals;
use crate::reconciler::Plan;

/// However EC2 throttles, everything is asked this often.
const LONGEST: Duration = Duration::from_secs(600);
/// Two replicas of two clusters should not ask at the same moments.
const JITTER: f64 = 0.1;
/// How fast a stretched interval shrinks again: a quarter of the usual one at a time.
const SHRINK_PARTS: u32 = 4;

/// What is asked in one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// All volumes.
    Volumes,
    /// All instances.
    Instances,
    /// Whoever may be dying.
    Suspects,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Volumes, Self::Instances, Self::Suspects];

    /// Its name, for metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Volumes => "volumes",
            Self::Instances => "instances",
            Self::Suspects => "suspects",
        }
    }

    /// Whether there is anything to ask.
    fn asks_anything(self, plan: &Plan) -> bool {
        let Plan { all, suspects, .. } = plan;
        match self {
            Self::Volumes => !all.volumes.is_empty(),
            Self::Instances => !(all.instances.is_empty() && all.names.is_empty()),
            Self::Suspects => {
                !(suspects.volumes.is_empty() && suspects.instances.is_empty() && suspects.names.is_empty())
            }
        }
    }

    /// The question, out of all that has to be asked.
    pub(crate) fn question(self, plan: &Plan) -> Question {
        match self {
            Self::Volumes => Question { volumes: plan.all.volumes.clone(), ..Question::default() },
            Self::Instances => {
                Question { instances: plan.all.instances.clone(), names: plan.all.names.clone(), ..Question::default() }
            }
            Self::Suspects => plan.suspects.clone(),
        }
    }
}

/// When each kind is due. Times are since the host began.
#[derive(Debug)]
pub(crate) struct Schedule {
    intervals: Intervals,
    turns: [Turn; 3],
}

#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    next: Duration,
    /// Longer than usual after a throttle.
    interval: Option<Duration>,
    asking: bool,
}

impl Schedule {
    pub(crate) fn new(intervals: Intervals) -> Self {
        Self { intervals, turns: [Turn::default(); 3] }
    }

    /// The kinds whose turn it is. Each counts as being asked until it is answered.
    pub(crate) fn due(&mut self, now: Duration, plan: &Plan) -> Vec<Kind> {
        let due = |kind: &Kind| {
            let turn = &self.turns[*kind as usize];
            !turn.asking && now >= turn.next && kind.asks_anything(plan)
        };
        let due: Vec<Kind> = Kind::ALL.into_iter().filter(due).collect();
        for kind in &due {
            let usual = self.usual(*kind);
            let turn = &mut self.turns[*kind as usize];
            turn.asking = true;
            turn.next = now + jittered(turn.interval.unwrap_or(usual));
        }
        due
    }

    /// Notes an answer. Throttling stretches the interval to the double, up to ten minutes; without it the interval shrinks
    /// again, step by step.
    pub(crate) fn answered(&mut self, kind: Kind, now: Duration, sweep: &Sweep) {
        let usual = self.usual(kind);
        let turn = &mut self.turns[kind as usize];
        turn.asking = false;
        let interval = turn.interval.unwrap_or(usual);
        let next = if is_throttled(sweep) {
            (interval * 2).min(LONGEST.max(usual))
        } else {
            interval.saturating_sub(usual / SHRINK_PARTS).max(usual)
        };
        turn.interval = (next != usual).then_some(next);
        if next > interval {
            turn.next = turn.next.max(now + jittered(next));
        }
    }

    fn usual(&self, kind: Kind) -> Duration {
        match kind {
            Kind::Volumes => self.intervals.volumes,
            Kind::Instances => self.intervals.instances,
            Kind::Suspects => self.intervals.suspects,
        }
    }
}

fn is_throttled(sweep: &Sweep) -> bool {
    fn any<T>(evidence: &[Evidence<T>]) -> bool {
        evidence.iter().any(|evidence| matches!(evidence, Evidence::Unknown(UnknownCause::Throttled)))
    }
    any(&sweep.volumes) || any(&sweep.instances)
}

/// The suspects' second is kept as it is: a tenth of it is nothing.
fn jittered(interval: Duration) -> Duration {
    if interval <= Duration::from_secs(1) {
        return interval;
    }
    interval.mul_f64(1.0 - JITTER * fastrand::f64())
}

#[cfg(test)]
mod tests {
    use zonewarden_contract::types::{AwsVolumeId, InstanceId};

    use super::*;

    fn plan() -> Plan {
        let all = Question {
            volumes: vec![AwsVolumeId { aws_volume_id: "vol-1".to_owned() }],
            instances: vec![InstanceId { instance_id: "i-1".to_owned() }],
            names: vec![],
        };
        Plan { all, ..Plan::default() }
    }

    fn sweep(cause: Option<UnknownCause>) -> Sweep {
        let volumes = cause.map(Evidence::Unknown).into_iter().collect();
        Sweep { volumes, instances: vec![], names: vec![], problems: vec![] }
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_4_each_kind_is_asked_at_once_and_then_once_an_interval_and_never_twice_at_a_time() {
        let mut schedule = Schedule::new(Intervals::default());
        assert_eq!(schedule.due(seconds(0), &plan()), [Kind::Volumes, Kind::Instances]);
        assert_eq!(schedule.due(seconds(120), &plan()), []);
        schedule.answered(Kind::Instances, seconds(120), &sweep(None));
        assert_eq!(schedule.due(seconds(120), &plan()), [Kind::Instances]);
        schedule.answered(Kind::Instances, seconds(121), &sweep(None));
        assert_eq!(schedule.due(seconds(121), &plan()), []);
        assert_eq!(schedule.due(seconds(135), &plan()), [Kind::Instances]);
    }

    #[test]
    fn suspects_are_asked_each_second_while_there_are_any() {
        let mut schedule = Schedule::new(Intervals::default());
        let mut plan = Plan::default();
        assert_eq!(schedule.due(seconds(0), &plan), []);
        plan.suspects.instances.push(InstanceId { instance_id: "i-1".to_owned() });
        for second in 0..3 {
            assert_eq!(schedule.due(seconds(second), &plan), [Kind::Suspects]);
            schedule.answered(Kind::Suspects, seconds(second), &sweep(None));
        }
    }

    #[test]
    fn d_26_throttling_stretches_the_interval_up_to_ten_minutes_and_it_shrinks_step_by_step() {
        let mut schedule = Schedule::new(Intervals::default());
        let throttled = sweep(Some(UnknownCause::Throttled));
        let interval = |schedule: &Schedule| schedule.turns[Kind::Volumes as usize].interval.map(|it| it.as_secs());
        for expected in [120, 240, 480, 600, 600] {
            schedule.answered(Kind::Volumes, seconds(0), &throttled);
            assert_eq!(interval(&schedule), Some(expected));
        }
        schedule.answered(Kind::Volumes, seconds(0), &sweep(None));
        assert_eq!(interval(&schedule), Some(585));
        for _ in 0..40 {
            schedule.answered(Kind::Volumes, seconds(0), &sweep(Some(UnknownCause::Denied)));
        }
        assert_eq!(interval(&schedule), None);
    }
}
