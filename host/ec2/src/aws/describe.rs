//! The two operations, seen as one: what is asked, and one page of the answer as records.

use std::future::Future;

use aws_sdk_ec2::Client;
use aws_sdk_ec2::types::Filter;

use super::convert;
use super::fault::{Failure, classify};
use crate::records::{Instance, Volume};

/// An operation that describes many things at once.
pub(super) trait Describe: Send + Sync {
    /// What it describes.
    type Record: Clone + Send + Sync;
    /// Its name in EC2's API and in metrics.
    const OPERATION: &'static str;
    /// What its records are called, in the plural.
    const RECORDS: &'static str;
    /// The filter that takes ids.
    const ID_FILTER: &'static str;
    /// Whether an id that EC2 rejects is looked for by filter in the same sweep, and not in the next one. Instances are asked
    /// about several times a minute, and each of their calls counts more.
    const CONFIRMS_AT_ONCE: bool;

    /// The id of a record.
    fn id(record: &Self::Record) -> &str;

    /// Asks for one page. With ids EC2 answers all in one page, and takes no page size.
    fn page(
        &self,
        ask: &Ask<'_>,
        token: Option<String>,
    ) -> impl Future<Output = Result<Page<Self::Record>, Failure>> + Send;
}

/// What is asked of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ask<'a> {
    /// These, each of which there must be.
    Ids(&'a [String]),
    /// All that have one of the values of each filter.
    Filters(Vec<(&'static str, Vec<String>)>),
}

impl Ask<'_> {
    /// Those of these ids that there are.
    pub(super) fn any_of<D: Describe>(ids: &[String]) -> Self {
        Self::Filters(vec![(D::ID_FILTER, ids.iter().map(|id| literally(id)).collect())])
    }
}

/// A filter's value that means this text and nothing else: EC2 reads `*` and `?` as wildcards and `\` as their escape.
pub(super) fn literally(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '*' | '?' | '\\') {
            value.push('\\');
        }
        value.push(character);
    }
    value
}

/// One page of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Page<R> {
    /// The records; `None` where the answer had no list at all, not even an empty one.
    pub(super) records: Option<Vec<R>>,
    /// What to ask the next page with.
    pub(super) next: Option<String>,
}

/// DescribeVolumes.
#[derive(Clone, Debug)]
pub(super) struct Volumes {
    pub(super) client: Client,
    pub(super) page_size: u16,
}

impl Describe for Volumes {
    type Record = Volume;
    const OPERATION: &'static str = "DescribeVolumes";
    const RECORDS: &'static str = "volumes";
    const ID_FILTER: &'static str = "volume-id";
    const CONFIRMS_AT_ONCE: bool = true;

    fn id(record: &Volume) -> &str {
        &record.id.aws_volume_id
    }

    async fn page(&self, ask: &Ask<'_>, token: Option<String>) -> Result<Page<Volume>, Failure> {
        let call = self.client.describe_volumes().include_managed_resources(true).set_next_token(token);
        let call = match ask {
            Ask::Ids(ids) => call.set_volume_ids(Some(ids.to_vec())),
            Ask::Filters(filters) => call.set_filters(Some(sdk_filters(filters))).max_results(self.page_size.into()),
        };
        let answer = call.send().await.map_err(|error| classify(&error))?;
        let records = answer.volumes.map(|volumes| volumes.into_iter().filter_map(convert::volume).collect());
        Ok(Page { records, next: answer.next_token })
    }
}

/// DescribeInstances.
#[derive(Clone, Debug)]
pub(super) struct Instances {
    pub(super) client: Client,
    pub(super) page_size: u16,
}

impl Describe for Instances {
    type Record = Instance;
    const OPERATION: &'static str = "DescribeInstances";
    const RECORDS: &'static str = "instances";
    const ID_FILTER: &'static str = "instance-id";
    const CONFIRMS_AT_ONCE: bool = false;

    fn id(record: &Instance) -> &str {
        &record.id.instance_id
    }

    async fn page(&self, ask: &Ask<'_>, token: Option<String>) -> Result<Page<Instance>, Failure> {
        let call = self.client.describe_instances().include_managed_resources(true).set_next_token(token);
        let call = match ask {
            Ask::Ids(ids) => call.set_instance_ids(Some(ids.to_vec())),
            Ask::Filters(filters) => call.set_filters(Some(sdk_filters(filters))).max_results(self.page_size.into()),
        };
        let answer = call.send().await.map_err(|error| classify(&error))?;
        let records = answer.reservations.map(|reservations| {
            let instances = reservations.into_iter().flat_map(|reservation| reservation.instances.unwrap_or_default());
            instances.filter_map(convert::instance).collect()
        });
        Ok(Page { records, next: answer.next_token })
    }
}

fn sdk_filters(filters: &[(&'static str, Vec<String>)]) -> Vec<Filter> {
    let filter = |(name, values): &(&'static str, Vec<String>)| {
        Filter::builder().name(*name).set_values(Some(values.clone())).build()
    };
    filters.iter().map(filter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_means_the_text_itself() {
        assert_eq!(literally("vol-0a"), "vol-0a");
        assert_eq!(literally(r"a*b?c\d"), r"a\*b\?c\\d");
    }
}
