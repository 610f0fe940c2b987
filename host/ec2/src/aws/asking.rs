//! One question to one operation, through the pace, page by page to the end.

use std::collections::HashSet;

use jiff::Timestamp;
use tokio::time::{Instant, timeout_at};

use super::describe::{Ask, Describe, Page};
use super::fault::{Failure, Fault};
use super::pace::{Limiter, OutOfTime};
use crate::verify::UnknownCause;

/// What asks, for the time of one sweep.
#[derive(Debug)]
pub(super) struct Asking<'a, D> {
    pub(super) describe: &'a D,
    pub(super) limiter: &'a Limiter,
    pub(super) deadline: Instant,
}

/// What the pages of one question held.
#[derive(Debug)]
pub(super) struct Reading<R> {
    /// When the question was sent: the moment as of which what is not in an answer by filter is not there.
    pub(super) asked_at: Timestamp,
    /// The records, each with the moment at which its page was asked for: what it says was so then or later. In the order
    /// in which they came, so that of two of one id the later one counts.
    pub(super) records: Vec<(Timestamp, R)>,
    /// Why the pages ended early, if they did. What is not among the records says nothing then.
    pub(super) failure: Option<Failure>,
}

impl<D: Describe> Asking<'_, D> {
    /// Reads all pages. A token that EC2 does not accept any more makes it begin again once; what was read stays.
    pub(super) async fn read(&self, ask: &Ask<'_>) -> Reading<D::Record> {
        let mut reading = Reading { asked_at: Timestamp::now(), records: vec![], failure: None };
        let mut tokens = HashSet::new();
        let mut token = None;
        let mut is_second_try = false;
        loop {
            let (sent_at, page) = match self.page(ask, token.clone()).await {
                Ok(page) => page,
                Err(failure) if token.is_some() && !is_second_try && is_about_the_token(&failure) => {
                    (token, is_second_try) = (None, true);
                    tokens.clear();
                    continue;
                }
                Err(failure) if token.is_some() && is_about_the_token(&failure) => {
                    reading.failure = Some(incomplete("a page's token was not accepted"));
                    break;
                }
                Err(failure) => {
                    reading.failure = Some(failure);
                    break;
                }
            };
            if token.is_none() {
                reading.asked_at = sent_at;
            }
            let Some(records) = page.records else {
                reading.failure = Some(incomplete("the answer has no list"));
                break;
            };
            reading.records.extend(records.into_iter().map(|record| (sent_at, record)));
            let Some(next) = page.next.filter(|next| !next.is_empty()) else { break };
            if !tokens.insert(next.clone()) {
                reading.failure = Some(incomplete("a page's token came twice"));
                break;
            }
            token = Some(next);
        }
        reading
    }

    async fn page(&self, ask: &Ask<'_>, token: Option<String>) -> Result<(Timestamp, Page<D::Record>), Failure> {
        let out_of_time = || Failure::Fault(Fault::out_of_time());
        self.limiter.take(self.deadline).await.map_err(|OutOfTime| out_of_time())?;
        let sent_at = Timestamp::now();
        let page = timeout_at(self.deadline, self.describe.page(ask, token)).await.map_err(|_| out_of_time())??;
        Ok((sent_at, page))
    }
}

fn incomplete(detail: &str) -> Failure {
    Failure::Fault(Fault::new(UnknownCause::Incomplete, detail))
}

/// On a later page, an error about the request can only be about the token: the rest of it was accepted for the first page.
fn is_about_the_token(failure: &Failure) -> bool {
    match failure {
        Failure::Ids { .. } => true,
        Failure::Fault(fault) => fault.cause == UnknownCause::ApiFault,
    }
}
