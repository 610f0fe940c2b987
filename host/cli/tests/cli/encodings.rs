//! Files in every encoding that editors and shells leave behind.

use crate::{Folder, Run, VOLUME, problems, pv, volumes};

fn check(bytes: &[u8]) -> Run {
    let folder = Folder::new(&[("file.yaml", bytes), ("good.yaml", pv("good", VOLUME).as_bytes())]);
    folder.run(&["check", "--cluster", "file.yaml", "--cluster", "good.yaml", "-o", "json"])
}

/// The file is read as if it were plain UTF-8.
#[track_caller]
fn is_read(bytes: &[u8]) {
    let run = check(bytes);
    let report = run.report();
    assert_eq!(problems(&report), Vec::<[&str; 3]>::new());
    assert_eq!(volumes(&report), ["file", "good"]);
    assert_eq!(report["volumes"][0]["awsVolumeId"], VOLUME);
    assert_eq!(run.code, 0);
}

fn utf_16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    is_read(&[b"\xEF\xBB\xBF", pv("file", VOLUME).as_bytes()].concat());
}

#[test]
fn utf_16_is_read_in_both_orders() {
    let text = pv("file", VOLUME);
    is_read(&[&b"\xFF\xFE"[..], &utf_16(&text, u16::to_le_bytes)].concat());
    is_read(&[&b"\xFE\xFF"[..], &utf_16(&text, u16::to_be_bytes)].concat());
}

#[test]
fn windows_line_ends_are_line_ends() {
    is_read(pv("file", VOLUME).replace('\n', "\r\n").as_bytes());
    let two = format!("{}---\n", pv("file", VOLUME)).replace('\n', "\r\n");
    is_read(two.as_bytes());
}

#[test]
fn utf_16_without_its_mark_is_named_for_what_it_is() {
    let run = check(&utf_16(&pv("file", VOLUME), u16::to_le_bytes));
    let report = run.report();
    assert_eq!((run.code, volumes(&report)), (1, vec!["good"]));
    let found = problems(&report);
    assert_eq!(found.len(), 1, "{found:?}");
    let [severity, code, message] = found[0];
    assert_eq!([severity, code], ["error", "not-text"], "{message}");
    assert!(message.starts_with("file.yaml") && message.contains("UTF-16"), "{message}");
}

#[test]
fn a_byte_that_is_no_text_is_named_with_its_place() {
    let run = check(b"apiVersion: v1\nkind: \xFF\n");
    let report = run.report();
    assert_eq!((run.code, volumes(&report)), (1, vec!["good"]));
    assert_eq!(
        problems(&report),
        [[
            "error",
            "not-text",
            "file.yaml, document 1, line 2, column 7: byte 0xff is not UTF-8 text; save the file as UTF-8, or as \
             UTF-16 with its mark"
        ]]
    );
}
