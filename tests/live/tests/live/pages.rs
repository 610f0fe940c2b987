//! Reads in several pages: rows D-22 to D-25. Reads by id have one page; those by filter may have more.

use zonewarden_ec2::{Ec2, Options};
use zonewarden_ec2_double::{Action, Double, Fault, Span};

use crate::{about_volumes, codes, options, shapes, tally, volume, with_volumes};

const COUNT: usize = 12;

/// Twelve volumes among fifty that EC2 did not find a moment ago and finds now, five to a page.
async fn three_pages() -> (Double, Ec2) {
    let (double, _) = with_volumes(50).await;
    let small = Options { page_size: 5, ..options(double.endpoint()) };
    let ec2 = Ec2::connect(&small).await.unwrap();
    (0..COUNT).for_each(|number| double.hide(&volume(number), Span::Always));
    let sweep = ec2.sweep(&about_volumes((0..50).map(volume))).await;
    assert_eq!(tally(&sweep.volumes), [("found".to_owned(), 38), ("missing, by filter too".to_owned(), COUNT)]);
    double.stop_lying();
    double.clear_calls();
    (double, ec2)
}

/// The sweep of those twelve while the pages come as they do.
async fn check(faults: &[(u64, Fault)], expected: &[(&str, usize)], calls: usize) {
    let (double, ec2) = three_pages().await;
    let numbered: Vec<_> = faults.iter().map(|(number, fault)| (*number, fault.clone())).collect();
    let mut number = 0;
    double.fault_when(Action::DescribeVolumes, move |_| {
        number += 1;
        numbered.iter().find(|(at, _)| *at == number).map(|(_, fault)| fault.clone())
    });
    let sweep = ec2.sweep(&about_volumes((0..COUNT).map(volume))).await;
    let expected: Vec<_> = expected.iter().map(|(verdict, count)| ((*verdict).to_owned(), *count)).collect();
    assert_eq!(tally(&sweep.volumes), expected, "{faults:?}");
    assert_eq!(shapes(&double, Action::DescribeVolumes), vec!["12 by volume-id"; calls], "{faults:?}");
    assert_eq!(sweep.problems.is_empty(), expected.len() == 1, "{:?}", codes(&sweep));
}

#[tokio::test]
async fn pages_are_read_to_the_end() {
    check(&[], &[("found", COUNT)], 3).await;
}

#[tokio::test]
async fn d_22_a_token_that_expired_begins_the_read_again_once() {
    check(&[(2, Fault::TokenExpired)], &[("found", COUNT)], 5).await;
    let twice = [(2, Fault::TokenExpired), (4, Fault::TokenExpired)];
    check(&twice, &[("found", 5), ("unknown: incomplete", 7)], 4).await;
}

#[tokio::test]
async fn d_23_an_item_that_comes_on_two_pages_is_one() {
    check(&[(2, Fault::Overlap), (3, Fault::Overlap)], &[("found", COUNT)], 3).await;
}

#[tokio::test]
async fn d_24_a_token_that_comes_twice_ends_the_read() {
    check(&[(2, Fault::RepeatToken)], &[("found", 10), ("unknown: incomplete", 2)], 2).await;
}

#[tokio::test]
async fn d_25_pages_before_a_throttle_are_kept() {
    check(&[(3, Fault::Throttle)], &[("found", 10), ("unknown: throttled", 2)], 3).await;
}

#[tokio::test]
async fn d_28_pages_before_an_outage_are_kept() {
    check(&[(2, Fault::Truncated)], &[("found", 5), ("unknown: unavailable", 7)], 2).await;
}
