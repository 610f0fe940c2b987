//! JSON without the white space between its tokens.

/// Takes the white space between the tokens of a JSON document away, and nothing else: the order of fields and the spelling
/// of texts stay. The document has to be valid.
#[must_use]
pub fn compact(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut in_string = false;
    let mut escaped = false;
    for character in json.chars() {
        if in_string {
            in_string = escaped || character != '"';
            escaped = !escaped && character == '\\';
        } else if character.is_ascii_whitespace() {
            continue;
        } else {
            in_string = character == '"';
        }
        text.push(character);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn only_white_space_between_tokens_goes() {
        for (json, wanted) in [
            ("{ \"b\" : [ 1 , null ],\n\t\"a\": \"x  y\" }", r#"{"b":[1,null],"a":"x  y"}"#),
            (r#"[ "a \" b" , "c\\" , " " ]"#, r#"["a \" b","c\\"," "]"#),
            (" \"\" ", r#""""#),
        ] {
            assert_eq!(compact(json), wanted, "{json}");
        }
    }
}
