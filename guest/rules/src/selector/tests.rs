use super::*;
use zonewarden_bindings::types::SelectorOperator as Op;

fn labels(pairs: &[(&str, &str)]) -> Vec<Label> {
    pairs.iter().map(|(key, value)| Label { key: (*key).to_owned(), value: (*value).to_owned() }).collect()
}

fn requirement(key: &str, operator: Op, values: &[&str]) -> Requirement {
    Requirement { key: key.to_owned(), operator, values: values.iter().map(|value| (*value).to_owned()).collect() }
}

fn term(requirements: Vec<Requirement>) -> SelectorTerm {
    SelectorTerm { requirements, has_match_fields: false }
}

fn check_one(operator: &Op, values: &[&str], node: Option<&str>, wanted: bool) {
    let node = node.map_or_else(Vec::new, |value| labels(&[("k", value)]));
    let selector = NodeSelector::new(vec![term(vec![requirement("k", operator.clone(), values)])]);
    assert_eq!(selector.matches(&node), wanted, "F-54 k {operator:?} {values:?} on {node:?}");
}

#[test]
fn f_54_each_operator_compares_as_kubernetes_does() {
    for (operator, values, node, wanted) in [
        (Op::In, &["a", "b"][..], Some("b"), true),
        (Op::In, &["a", "b"], Some("c"), false),
        (Op::In, &["a"], None, false),
        (Op::NotIn, &["a"], Some("a"), false),
        (Op::NotIn, &["a"], Some("b"), true),
        (Op::NotIn, &["a"], None, true),
        (Op::Exists, &[], Some(""), true),
        (Op::Exists, &[], None, false),
        (Op::DoesNotExist, &[], None, true),
        (Op::DoesNotExist, &[], Some("a"), false),
        (Op::Gt, &["5"], Some("6"), true),
        (Op::Gt, &["5"], Some("5"), false),
        (Op::Gt, &["5"], Some("10"), true),
        (Op::Gt, &["5"], Some("x"), false),
        (Op::Gt, &["5"], None, false),
        (Op::Lt, &["5"], Some("4"), true),
        (Op::Lt, &["5"], Some("5"), false),
        (Op::Lt, &["5"], Some("x"), false),
        (Op::Lt, &["5"], None, false),
        (Op::In, &["a", ""], Some(""), true),
        (Op::Lt, &["5"], Some("-7"), true),
        (Op::Lt, &["9223372036854775807"], Some("9223372036854775806"), true),
        (Op::Other("Like".to_owned()), &["a"], Some("a"), false),
    ] {
        check_one(&operator, values, node, wanted);
    }
}

#[test]
fn f_54_a_term_that_kubernetes_can_not_parse_is_skipped() {
    let long = "a".repeat(64);
    for (operator, values) in [
        (Op::In, &[][..]),
        (Op::NotIn, &[]),
        (Op::Exists, &["a"]),
        (Op::DoesNotExist, &["a"]),
        (Op::Gt, &["5", "6"]),
        (Op::Gt, &["x"]),
        (Op::Lt, &[]),
        (Op::Lt, &["9223372036854775808"]),
        (Op::In, &["a", "b c"]),
        (Op::In, &["a", "-b"]),
        (Op::In, &["a", "b-"]),
        (Op::In, &["a", &long]),
        (Op::NotIn, &["b/c"]),
    ] {
        let bad = term(vec![requirement("k", operator.clone(), values)]);
        let node = labels(&[("k", "a")]);
        assert!(!NodeSelector::new(vec![bad.clone()]).matches(&node), "{operator:?} {values:?}");
        assert!(!NodeSelector::new(vec![bad.clone()]).matches(&[]), "{operator:?} {values:?}");
        let beside = term(vec![requirement("k", Op::In, &["a"])]);
        assert!(NodeSelector::new(vec![bad, beside]).matches(&node), "{operator:?} {values:?}");
    }
}

#[test]
fn f_54_a_key_has_the_form_of_a_label_key() {
    let long_name = "n".repeat(63);
    let long_prefix = ["p".repeat(63), "p".repeat(63), "p".repeat(63), "p".repeat(61)].join(".");
    let too_long_prefix = ["p".repeat(63), "p".repeat(63), "p".repeat(63), "p".repeat(62)].join(".");
    for (key, wanted) in [
        ("k".to_owned(), true),
        ("K_1.x".to_owned(), true),
        ("example.com/k".to_owned(), true),
        (format!("example.com/{long_name}"), true),
        (format!("example.com/{long_name}n"), false),
        (format!("{long_prefix}/k"), true),
        (format!("{too_long_prefix}/k"), false),
        ("e-x.com/k".to_owned(), true),
        (String::new(), false),
        ("example.com/".to_owned(), false),
        ("/k".to_owned(), false),
        ("a/b/c".to_owned(), false),
        ("Example.com/k".to_owned(), false),
        ("-example.com/k".to_owned(), false),
        ("example-.com/k".to_owned(), false),
        ("example..com/k".to_owned(), false),
        ("exa_mple.com/k".to_owned(), false),
        ("k k".to_owned(), false),
        ("-k".to_owned(), false),
        ("k-".to_owned(), false),
    ] {
        let selector = NodeSelector::new(vec![term(vec![requirement(&key, Op::DoesNotExist, &[])])]);
        assert_eq!(selector.matches(&[]), wanted, "{key:?}");
    }
}

#[test]
fn f_54_terms_are_alternatives_and_requirements_hold_together() {
    let node = labels(&[("k", "a"), ("l", "b")]);
    let a = || requirement("k", Op::In, &["a"]);
    let x = || requirement("l", Op::In, &["x"]);
    let other_a = || requirement("k", Op::In, &["x"]);
    for (terms, wanted) in [
        (vec![], false),
        (vec![term(vec![])], false),
        (vec![term(vec![]), term(vec![a()])], true),
        (vec![term(vec![a(), x()])], false),
        (vec![term(vec![a()]), term(vec![x()])], true),
        (vec![term(vec![x()]), term(vec![a()])], true),
        (vec![term(vec![a(), other_a()])], false),
    ] {
        assert_eq!(NodeSelector::new(terms.as_slice()).matches(&node), wanted, "{terms:?}");
    }
}

#[test]
fn f_54_match_fields_are_not_checked() {
    let fields = SelectorTerm { requirements: vec![], has_match_fields: true };
    assert!(NodeSelector::new(vec![fields]).matches(&[]));
    let both = SelectorTerm { requirements: vec![requirement("k", Op::In, &["a"])], has_match_fields: true };
    assert!(!NodeSelector::new(vec![both]).matches(&[]));
}

#[test]
fn f_52_allowed_topologies_are_taken_literally() {
    let requirement = |key: &str, values: &[&str]| TopologyRequirement {
        key: key.to_owned(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    };
    let node = labels(&[("k", "a"), ("l", "b")]);
    for (terms, wanted) in [
        (vec![], true),
        (vec![vec![]], false),
        (vec![vec![requirement("k", &["x", "a"])]], true),
        (vec![vec![requirement("k", &["x"])]], false),
        (vec![vec![requirement("m", &["a"])]], false),
        (vec![vec![requirement("k", &[])]], false),
        (vec![vec![requirement("k", &["a"]), requirement("l", &["x"])]], false),
        (vec![vec![requirement("k", &["x"])], vec![requirement("l", &["b"])]], true),
        (vec![vec![requirement("k", &["a", "b c"])]], false),
    ] {
        let terms: Vec<TopologyTerm> = terms.into_iter().map(|requirements| TopologyTerm { requirements }).collect();
        assert_eq!(topology_allows(&terms, &node), wanted, "F-52 {terms:?}");
    }
    let bad_key = [TopologyTerm { requirements: vec![requirement("k k", &["a"])] }];
    assert!(!topology_allows(&bad_key, &labels(&[("k k", "a")])));
}

#[test]
fn a_selector_is_told_in_words() {
    let one = term(vec![requirement("k", Op::In, &["a", "b"]), requirement("l", Op::Exists, &[])]);
    let two = term(vec![requirement("k", Op::NotIn, &["c"]), requirement("m", Op::DoesNotExist, &[])]);
    let three = term(vec![requirement("n", Op::Gt, &["1"]), requirement("n", Op::Lt, &["9"])]);
    let fields = SelectorTerm { requirements: vec![], has_match_fields: true };
    let selector = NodeSelector::new(vec![one, two, three, fields]);
    assert_eq!(
        selector.describe(),
        "k In [a, b] and l Exists or k NotIn [c] and m DoesNotExist or n Gt [1] and n Lt [9] or matchFields, which are not judged"
    );
    let describe_labels = |selector: &NodeSelector<'_>, labels: &[Label]| {
        let mut words = Vec::new();
        selector.describe_labels(labels, &mut words);
        words.concat()
    };
    assert_eq!(describe_labels(&selector, &labels(&[("k", "x"), ("z", "y")])), "k=x, no l, no m, no n");
    let none = NodeSelector::new(Vec::new());
    assert_eq!(none.describe(), "terms of which none can match a node");
    assert_eq!(describe_labels(&none, &[]), "no label that could help");
    let topology = [TopologyTerm {
        requirements: vec![
            TopologyRequirement { key: "k".to_owned(), values: vec!["a".to_owned(), "b".to_owned()] },
            TopologyRequirement { key: "l".to_owned(), values: vec!["c".to_owned()] },
        ],
    }];
    assert_eq!(describe_topology(&topology), "k In [a, b] and l In [c]");
}

#[test]
fn texts_are_the_same_where_each_byte_is() {
    let long = "topology.kubernetes.io/zone";
    for length in 0..=long.len() {
        let text = &long[..length];
        assert!(is_same(text, text), "{text}");
        assert!(!is_same(text, &format!("{text}x")) && !is_same(&format!("{text}x"), text), "{text}");
        for changed in 0..length {
            let mut other = text.to_owned();
            other.replace_range(changed..=changed, "#");
            assert!(!is_same(text, &other), "{text} {other}");
        }
    }
    assert!(!is_same("0123456789abcdef", "01234567") && !is_same("01234567", "0123456789abcdef"));
}
