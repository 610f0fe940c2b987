//! What comes of a look: people are told, and what the rails permit is done.

use std::time::Duration;

use zonewarden_cluster::api::Event;
use zonewarden_cluster::{ApiError, Write};
use zonewarden_contract::attachment::Drift;
use zonewarden_contract::types::Remedy;

use super::Host;
use crate::act::{Act, Finding};
use crate::clock::Moment;
use crate::metering;
use crate::rails::Withheld;
use crate::reconciler::{Judged, Scope};
use crate::remedies::{Hand, Outcome};
use crate::telling::{self, Decision};

/// What the API server did not do is tried again after so long: it may be away, or may not allow it.
const REST: Duration = Duration::from_secs(10);

impl Host {
    /// Tells what was found, and does what is permitted.
    pub(super) async fn dispose(&mut self, judged: Judged, scope: Scope) {
        if scope == Scope::All {
            self.told.keep(&judged.findings);
        }
        self.ledger.looked(scope, &judged.findings, self.now().moment);
        if scope != Scope::Suspects {
            let stuck = judged.stuck.into_iter().take(self.most_stuck).collect();
            self.status.send_modify(|status| status.stuck = stuck);
        }
        metering::breaker(judged.breaker_open);
        if let Some(volumes) = judged.opened {
            tracing::error!(volumes, "so many volumes are bad at once that nothing is done about any of them");
        }
        for finding in &judged.findings {
            self.tell(finding).await;
            let drift = metering::drift_of(finding);
            for (remedy, withheld) in &finding.withheld {
                if self.told.is_new_decision(Decision::of_finding(finding, *remedy, withheld.0)) {
                    self.count_withheld(drift, *remedy, *withheld);
                }
            }
            for act in &finding.acts {
                self.act(act, drift, finding.death).await;
            }
        }
    }

    async fn tell(&mut self, finding: &Finding) {
        let now = self.now();
        if !self.told.is_news(finding, now.moment) {
            return;
        }
        let Finding { subject, severity, reason, .. } = finding;
        let digest = self.reconciler.policy().digest();
        let remedies: Vec<_> = finding.acts.iter().map(|act| act.deed.remedy()).collect();
        tracing::info!(subject, code = reason.code, ?severity, ?remedies, policy = digest, "{}", reason.message);
        for event in telling::of_finding(finding, now.calendar) {
            self.write_event(event).await;
        }
    }

    /// Carries out an act, where mode, breaker and budget allow it.
    async fn act(&mut self, act: &Act, drift: Option<Drift>, death: bool) {
        let remedy = act.deed.remedy();
        let now = self.now().moment;
        self.resting.retain(|(_, until)| now < *until);
        if self.resting.iter().any(|(deed, _)| *deed == act.deed) {
            return;
        }
        if let Err(withheld) = self.reconciler.allow(act, death, self.now().moment) {
            if self.told.is_new_decision(Decision::of_act(act, withheld.0)) {
                self.count_withheld(drift, remedy, withheld);
            }
            return;
        }
        let cached = self.parts.cluster.read();
        let clock = || self.clock.now();
        let hand = Hand { api: &*self.parts.api, fence: &*self.parts.fence, clock: &clock, cached: &cached };
        let outcome = hand.carry_out(&mut self.reconciler, act).await;
        if matches!(outcome, Outcome::Withheld(_)) {
            self.reconciler.refund(act, death);
        }
        self.note(act, drift, &outcome).await;
    }

    fn count_withheld(&self, drift: Option<Drift>, remedy: Remedy, withheld: Withheld) {
        metering::remedy(drift, remedy, withheld.0, self.reconciler.options.modes.only_tell(remedy));
    }

    async fn note(&mut self, act: &Act, drift: Option<Drift>, outcome: &Outcome) {
        let remedy = act.deed.remedy();
        if self.told.is_to_be_counted(act, outcome) {
            metering::outcome(drift, remedy, outcome);
            tracing::info!(?remedy, ?outcome, code = act.reason.code, deed = ?act.deed, "remedy");
        }
        let now = self.now().moment;
        if let Outcome::Failed(_) = outcome {
            self.resting.push((act.deed.clone(), Moment(now.0 + REST)));
        }
        if remedy == Remedy::ForceDeletePods {
            let failed = matches!(outcome, Outcome::Failed(_));
            self.unfinished.retain(|(begun, _, _)| failed || begun != act);
            if failed && !self.unfinished.iter().any(|(begun, _, _)| begun == act) {
                self.unfinished.push((act.clone(), drift, now));
            }
        }
        if !self.told.is_news_of_act(act, outcome, now) {
            return;
        }
        for event in telling::of_act(act, outcome, self.now().calendar) {
            self.write_event(event).await;
        }
    }

    /// Goes on with what was begun: the pods of a dead instance, whose VolumeAttachment may be gone by now.
    pub(super) async fn finish(&mut self) {
        /// What could not be done in so long is left to Kubernetes.
        const PATIENCE: Duration = Duration::from_secs(600);
        let now = self.now().moment;
        self.unfinished.retain(|(_, _, begun)| now - *begun < PATIENCE);
        for (act, drift, _) in self.unfinished.clone() {
            self.act(&act, drift, true).await;
        }
    }

    async fn write_event(&self, event: Event) {
        if !self.parts.fence.holds() {
            return;
        }
        match self.parts.api.write(&Write::Event(event)).await {
            Ok(()) => {}
            // A world of files takes none, and an operator may give no right to write them: the log has it all.
            Err(error @ ApiError::Forbidden(_)) => tracing::debug!(%error, "an event can't be written"),
            Err(error) => tracing::warn!(%error, "an event can't be written"),
        }
    }

    /// The policy does not answer. The call was counted where it failed; people are told once, until it answers again.
    pub(super) fn complain(&mut self, error: &zonewarden_engine::Error) {
        if self.complained.replace(error.kind()) != Some(error.kind()) {
            tracing::error!(kind = error.kind(), %error, "the policy does not answer, so nothing is decided");
        }
    }
}
