//! Pages. A token says where the next page begins and which question it belongs to; to clients it is a text without meaning.

use crate::describe::Page;
use crate::error::Ec2Error;
use crate::faults::Fault;
use crate::request::Parameters;

/// The sizes that a page may have.
const SIZES: std::ops::RangeInclusive<usize> = 5..=1000;

/// Which part of everything is asked for.
pub(super) struct Slice {
    start: usize,
    /// `None` for all of the rest.
    size: Option<usize>,
    repeats: Option<String>,
}

pub(super) fn slice(parameters: &Parameters, faults: &[Fault]) -> Result<Slice, Ec2Error> {
    let token = parameters.get("NextToken");
    let mut size = parameters.get("MaxResults").map(page_size).transpose()?;
    let Some(token) = token else { return Ok(Slice { start: 0, size, repeats: None }) };
    if faults.contains(&Fault::TokenExpired) {
        return Err(invalid_token());
    }
    let mut start = offset(token, parameters.fingerprint()).ok_or_else(invalid_token)?;
    if faults.contains(&Fault::Overlap) {
        start = start.saturating_sub(1);
    }
    size.get_or_insert(*SIZES.end());
    let repeats = faults.contains(&Fault::RepeatToken).then(|| token.to_owned());
    Ok(Slice { start, size, repeats })
}

impl Slice {
    pub(super) fn cut<T>(self, items: Vec<T>, parameters: &Parameters) -> Page<T> {
        let total = items.len();
        let size = self.size.unwrap_or(total);
        let end = self.start.saturating_add(size);
        let next = (end < total).then(|| token(end, parameters.fingerprint()));
        let items = items.into_iter().skip(self.start).take(size).collect();
        Page { items, next_token: self.repeats.or(next) }
    }
}

fn page_size(text: &str) -> Result<usize, Ec2Error> {
    let invalid = |expected: String| {
        let text = format!("Value ( {text} ) for parameter maxResults is invalid. {expected}");
        Ec2Error::invalid_value(text)
    };
    let size: usize = text.parse().map_err(|_| invalid("Expecting a number.".to_owned()))?;
    if size < *SIZES.start() {
        return Err(invalid(format!("Expecting a value greater than {}.", SIZES.start())));
    }
    if size > *SIZES.end() {
        return Err(invalid(format!("Expecting a value less than {}.", SIZES.end())));
    }
    Ok(size)
}

fn token(offset: usize, fingerprint: u64) -> String {
    format!("{fingerprint:016x}{offset:08x}")
}

fn offset(token: &str, fingerprint: u64) -> Option<usize> {
    let rest = token.strip_prefix(&format!("{fingerprint:016x}"))?;
    usize::from_str_radix(rest, 16).ok()
}

fn invalid_token() -> Ec2Error {
    Ec2Error::client("InvalidNextToken", "The specified NextToken is not valid.")
}
