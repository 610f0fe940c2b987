//! Reads: by ids or by filters, page by page.

use crate::error::Ec2Error;
use crate::faults::Fault;
use crate::lies::Lies;
use crate::request::{Filter, Parameters};
use crate::world::Naming;

use self::select::Wanted;

mod kinds;
mod paging;
mod select;

pub(crate) use kinds::Described;

/// So many ids go into one question.
const ID_LIMIT: usize = 1000;

/// So many values go into the filters of one question.
const FILTER_VALUE_LIMIT: usize = 200;

/// What a read was given beside its parameters.
#[derive(Debug)]
pub(crate) struct Reading<'a, T> {
    /// All that could be meant: with ids those that exist, else everything.
    pub(crate) candidates: Vec<T>,
    pub(crate) lies: &'a mut Lies<T>,
    pub(crate) now: jiff::Timestamp,
    pub(crate) naming: Naming,
    pub(crate) faults: &'a [Fault],
}

/// What a read gives.
#[derive(Debug)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next_token: Option<String>,
}

/// Answers a question.
pub(crate) fn read<T: Described>(parameters: &Parameters, reading: Reading<'_, T>) -> Result<Page<T>, Ec2Error> {
    let ids = parameters.list(T::ID_PARAMETER);
    let filters = parameters.filters();
    check_ids::<T>(&ids, parameters)?;
    check_filters::<T>(&filters)?;
    let slice = paging::slice(parameters, reading.faults)?;
    let naming = reading.naming;
    let faults = reading.faults;
    let shows_hidden = parameters.flag("IncludeManagedResources");
    let wanted = Wanted { filters, shows_hidden, asks_by_id: !ids.is_empty() };
    let selection = select::select(reading, &wanted);
    let missing: Vec<&str> = ids.iter().map(String::as_str).filter(|id| !selection.existing.contains(*id)).collect();
    if !missing.is_empty() {
        return Err(missing_error::<T>(&missing, &ids, naming, faults));
    }
    let mut page = slice.cut(selection.items, parameters);
    for fault in faults {
        match fault {
            Fault::LeaveOut(left_out) => page.items.retain(|item| !left_out.iter().any(|id| id == item.id())),
            Fault::Empty => page = Page { items: Vec::new(), next_token: None },
            _ => {}
        }
    }
    Ok(page)
}

fn check_ids<T: Described>(ids: &[String], parameters: &Parameters) -> Result<(), Ec2Error> {
    let pages = parameters.get("MaxResults").is_some() || parameters.get("NextToken").is_some();
    if !ids.is_empty() && pages {
        let text = format!("The parameter {} cannot be used with the parameter maxResults", T::SET_NAME);
        return Err(Ec2Error::client("InvalidParameterCombination", text));
    }
    if ids.len() > ID_LIMIT {
        let text = format!("The maximum number of IDs specified on a single call is {ID_LIMIT}");
        return Err(Ec2Error::invalid_value(text));
    }
    ids.iter().try_for_each(|id| T::check_id(id))
}

fn check_filters<T: Described>(filters: &[Filter]) -> Result<(), Ec2Error> {
    if filters.iter().map(|filter| filter.values.len()).sum::<usize>() > FILTER_VALUE_LIMIT {
        let text = format!("The maximum number of filter values specified on a single call is {FILTER_VALUE_LIMIT}");
        return Err(Ec2Error::client("FilterLimitExceeded", text));
    }
    let is_known = |filter: &&Filter| filter.name.starts_with("tag:") || T::FILTERS.contains(&filter.name.as_str());
    match filters.iter().find(|filter| !is_known(filter)) {
        Some(unknown) => Err(Ec2Error::invalid_value(format!("The filter '{}' is invalid", unknown.name))),
        None => Ok(()),
    }
}

fn missing_error<T: Described>(missing: &[&str], asked: &[String], naming: Naming, faults: &[Fault]) -> Ec2Error {
    let mut distinct = missing.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    if faults.contains(&Fault::NameEveryId) {
        let set: Vec<String> = asked.iter().map(|id| format!("'{id}'")).collect();
        return T::missing(&format!("{{{}}}", set.join(", ")));
    }
    match naming {
        Naming::All if distinct.len() > 1 => T::missing_many(&distinct.join(", ")),
        // The first in the order of the question.
        Naming::All | Naming::First => T::missing(missing[0]),
    }
}
