//! What goes wrong, and when.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::time::Duration;

use crate::error::Ec2Error;
use crate::request::Action;

/// Something that goes wrong with one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 503 `RequestLimitExceeded`.
    Throttle,
    /// 500 `InternalError`.
    InternalError,
    /// 503 `Unavailable`.
    Unavailable,
    /// 400 `RequestExpired`: the signature or the token is too old.
    RequestExpired,
    /// 400 `ExpiredToken`: the session's credentials ran out.
    ExpiredToken,
    /// 401 `AuthFailure`.
    AuthFailure,
    /// 403 `UnauthorizedOperation`.
    Unauthorized,
    /// Any other error.
    Error(Ec2Error),
    /// The answer is made at once and sent after a delay on the machine's own clock: it is that old when it comes.
    Slow(Duration),
    /// No answer ever comes; the connection stays open.
    Hang,
    /// A complete HTTP answer whose XML ends in the middle.
    Truncated,
    /// The connection ends in the middle of the answer.
    CutOff,
    /// The connection is reset before any answer.
    Reset,
    /// Another region or account: nothing of what is asked for is there.
    WrongRegion,
    /// These are silently left out of the answer, though they are there.
    LeaveOut(Vec<String>),
    /// 200 and not one item.
    Empty,
    /// An error about a missing id names all ids that were asked, in the way of a set in Python.
    NameEveryId,
    /// The answer to a question with a `NextToken` gives the same one back.
    RepeatToken,
    /// The `NextToken` of the question is not valid any more.
    TokenExpired,
    /// The page after the first begins with the last item of the page before.
    Overlap,
    /// Well-formed nonsense: states, attachments, zones and ids at random, by this seed and the number of the call.
    Nonsense(u64),
}

impl Fault {
    /// The error that it answers with, where it is one.
    pub fn error(&self) -> Option<Ec2Error> {
        let error = match self {
            Self::Throttle => Ec2Error::throttled(),
            Self::InternalError => Ec2Error::new(500, "InternalError", "An internal error has occurred"),
            Self::Unavailable => {
                Ec2Error::new(503, "Unavailable", "The server is overloaded and cannot handle the request.")
            }
            Self::RequestExpired => Ec2Error::client("RequestExpired", "Request has expired."),
            Self::ExpiredToken => {
                Ec2Error::client("ExpiredToken", "The security token included in the request is expired")
            }
            Self::AuthFailure => {
                let text = "AWS was not able to validate the provided access credentials";
                Ec2Error::new(401, "AuthFailure", text)
            }
            Self::Unauthorized => {
                let text = "You are not authorized to perform this operation.";
                Ec2Error::new(403, "UnauthorizedOperation", text)
            }
            Self::Error(error) => error.clone(),
            Self::Slow(_)
            | Self::Hang
            | Self::Truncated
            | Self::CutOff
            | Self::Reset
            | Self::WrongRegion
            | Self::LeaveOut(_)
            | Self::Empty
            | Self::NameEveryId
            | Self::RepeatToken
            | Self::TokenExpired
            | Self::Overlap
            | Self::Nonsense(_) => return None,
        };
        Some(error)
    }
}

/// Says what goes wrong with the call of this number; the first call of an action has number 1.
type Rule = Box<dyn FnMut(u64) -> Option<Fault> + Send>;

/// The faults of all actions.
#[derive(Default)]
pub(crate) struct Faults {
    queues: BTreeMap<Action, VecDeque<Fault>>,
    rules: BTreeMap<Action, Vec<Rule>>,
}

impl fmt::Debug for Faults {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Faults").field("queues", &self.queues).finish_non_exhaustive()
    }
}

impl Faults {
    pub(crate) fn queue(&mut self, action: Action, faults: impl IntoIterator<Item = Fault>) {
        self.queues.entry(action).or_default().extend(faults);
    }

    pub(crate) fn rule(&mut self, action: Action, rule: Rule) {
        self.rules.entry(action).or_default().push(rule);
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Everything that goes wrong with this call: the next of the queue, and what the rules say.
    pub(crate) fn of(&mut self, action: Action, number: u64) -> Vec<Fault> {
        let next = self.queues.get_mut(&action).and_then(VecDeque::pop_front);
        let rules = self.rules.entry(action).or_default().iter_mut();
        next.into_iter().chain(rules.filter_map(|rule| rule(number))).collect()
    }
}
