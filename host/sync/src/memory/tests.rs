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
