//! What is counted, and what is dropped.

use std::time::Duration;

use jiff::Timestamp;
use zonewarden_ec2::Attachment;

use super::*;

fn at(seconds: u64) -> Moment {
    Moment(Duration::from_secs(seconds))
}

fn key() -> PairKey {
    let (volume, instance) = ("vol-1".to_owned(), "i-1".to_owned());
    (AwsVolumeId { aws_volume_id: volume }, InstanceId { instance_id: instance })
}

fn phase(attached: bool) -> Option<Phase> {
    Some(Phase { uid: "u".to_owned(), attached, deleting: false })
}

/// A read of the volume: attached to the pair's instance since a time by EC2's clock, or nowhere.
fn read(memory: &mut Memory, attached: Option<Timestamp>, asked: u64) {
    let question = Question { volumes: vec![key().0], ..Question::default() };
    let attachments = attached.map(|attached| Attachment {
        instance: Some(key().1),
        state: AttachmentState::Attached,
        device: None,
        attached: Some(attached),
        associated_resource: None,
        owning_service: None,
    });
    let record = Volume {
        id: key().0,
        zone: None,
        state: zonewarden_contract::types::VolumeState::Available,
        multi_attach: false,
        attachments: attachments.into_iter().collect(),
        attributes: vec![],
        tags: vec![],
    };
    let volumes = vec![Evidence::Found { observed_at: Timestamp::UNIX_EPOCH, record }];
    memory.take(&question, Sweep { volumes, ..Sweep::default() }, at(asked));
}

#[test]
fn reads_in_a_row_are_counted_and_an_answer_that_overtook_another_is_none() {
    let mut memory = Memory::default();
    memory.watch(&key(), phase(true), at(0));
    for asked in [10, 20, 15, 20] {
        read(&mut memory, None, asked);
    }
    assert_eq!(memory.volume_run(&key()), Some(Run { reads: 2, seconds: 10 }));
    assert!(memory.has_left(&key()));
    read(&mut memory, Some(Timestamp::UNIX_EPOCH), 30);
    assert_eq!(memory.volume_run(&key()), Some(Run { reads: 1, seconds: 0 }));
    assert!(!memory.has_left(&key()));
}

#[test]
fn d_46_evidence_that_was_asked_for_before_the_attachment_moved_says_nothing() {
    let mut memory = Memory::default();
    memory.watch(&key(), phase(false), at(0));
    read(&mut memory, None, 10);
    // The attach ends while EC2 thinks about a question of second 20.
    memory.watch(&key(), phase(true), at(25));
    assert_eq!(memory.volume_run(&key()), None);
    read(&mut memory, None, 20);
    assert_eq!(memory.volume_run(&key()), None);
    read(&mut memory, None, 26);
    assert_eq!(memory.volume_run(&key()), Some(Run { reads: 1, seconds: 0 }));
    assert_eq!(memory.settled_seconds(&key(), at(40)), 15);
}

#[test]
fn d_48_an_attachment_s_age_is_counted_on_our_own_clock_whatever_ec2_s_stamp_says() {
    let mut memory = Memory::default();
    memory.watch(&key(), phase(true), at(0));
    read(&mut memory, Some(Timestamp::MAX), 10);
    read(&mut memory, Some(Timestamp::MIN), 70);
    assert_eq!(memory.held_seconds(&key(), at(100)), 90);
    read(&mut memory, None, 110);
    assert_eq!(memory.held_seconds(&key(), at(120)), 0);
}

#[test]
fn what_was_so_in_the_first_look_and_never_changed_is_known_from_the_beginning() {
    let mut memory = Memory::default();
    memory.begin(at(0));
    memory.watch(&key(), phase(true), at(0));
    let from = |memory: &Memory| memory.run_from_the_beginning(&key(), 900);
    assert_eq!(from(&memory), Some(Run::default()));
    read(&mut memory, None, 10);
    read(&mut memory, None, 1_010);
    assert_eq!(from(&memory), Some(Run { reads: 2, seconds: 1_000 }));
    // The VolumeAttachment moves.
    memory.watch(&key(), phase(false), at(1_020));
    assert_eq!(from(&memory), None);
}

#[test]
fn what_ec2_took_back_or_came_late_is_not_known_from_the_beginning() {
    let mut memory = Memory::default();
    memory.begin(at(0));
    memory.watch(&key(), phase(true), at(0));
    read(&mut memory, Some(Timestamp::UNIX_EPOCH), 10);
    read(&mut memory, None, 20);
    assert_eq!(memory.run_from_the_beginning(&key(), 900), None);

    for (since, is_from_the_beginning) in [(900, true), (901, false)] {
        let mut memory = Memory::default();
        memory.begin(at(0));
        memory.watch(&key(), phase(true), at(since));
        assert_eq!(memory.run_from_the_beginning(&key(), 900).is_some(), is_from_the_beginning, "{since}");
    }
}

#[test]
fn d_20_an_instance_that_was_shown_is_known_while_something_names_it_and_for_a_day_after_that() {
    const DAY: u64 = 24 * 3600;
    let ask = |memory: &mut Memory, is_there: bool, asked: u64| {
        let question = Question { instances: vec![key().1], ..Question::default() };
        let observed_at = Timestamp::UNIX_EPOCH;
        let record = Instance {
            id: key().1,
            state: InstanceState::Running,
            zone: None,
            private_dns_name: None,
            tags: vec![],
            block_devices: vec![],
        };
        let missing = Evidence::Missing { observed_at, absent_by_filter: true };
        let evidence = if is_there { Evidence::Found { observed_at, record } } else { missing };
        memory.take(&question, Sweep { instances: vec![evidence], ..Sweep::default() }, at(asked));
    };
    let known_before = |memory: &Memory| memory.missing_instance(&key()).map(|missing| missing.known_before);
    let mut memory = Memory::default();
    memory.watch(&key(), phase(true), at(0));
    ask(&mut memory, true, 10);
    for asked in [20, DAY, 2 * DAY - 1] {
        ask(&mut memory, false, asked);
        assert_eq!(known_before(&memory), Some(true), "{asked}");
    }
    // Nothing names it: other questions are asked.
    for asked in [2 * DAY, 3 * DAY - 2, 3 * DAY - 1] {
        memory.take(&Question::default(), Sweep::default(), at(asked));
        assert_eq!(known_before(&memory), Some(asked < 3 * DAY - 1), "{asked}");
    }
}
