//! Any text as a volume id, a provider id and a node id: nothing panics, a canonical id stands literally in the text it was
//! made from and is read as itself, and what the strict mode accepts the lenient one accepts too.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zonewarden_rules::settings::VolumeIds;
use zonewarden_rules::{provider_id, volume_id};

fuzz_target!(|text: &str| {
    let lenient = volume_id::parse(text, VolumeIds::Lenient);
    let strict = volume_id::parse(text, VolumeIds::Strict);
    assert!(strict.is_err() || lenient.is_ok(), "strict accepts {text:?} and lenient does not");
    if let Ok(parsed) = &lenient {
        let id = parsed.id().as_str();
        assert!(text.contains(id), "{id:?} does not stand in {text:?}");
        let again = volume_id::parse(id, VolumeIds::Lenient).expect("a canonical id is an id");
        assert_eq!(again.id().as_str(), id);
        let _ = (parsed.to_zone(), parsed.warnings());
    }
    let _ = provider_id::parse(text);
    let _ = provider_id::parse_bare(text);
    let _ = provider_id::in_node_name(text);
});
