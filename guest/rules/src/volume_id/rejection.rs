//! Why a text is no volume id.

use super::leniency::Leniency;
use crate::answer::problem;
use zonewarden_bindings::types::Problem;

/// The forms that strict mode accepts, for people to choose from.
pub const ACCEPTED: [&str; 3] =
    ["vol-0123456789abcdef0", "aws:///vol-0123456789abcdef0", "aws://us-east-1a/vol-0123456789abcdef0"];

/// The rule that a text breaks. Codes that begin with `parse-` are texts that are no URL to Kubernetes ("invalid disk name"),
/// those that begin with `format-` are URLs that name no volume ("invalid format").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejection {
    /// No text, or only whitespace. Kubernetes returns it unchanged; it names no volume, so both modes reject it.
    Empty,
    /// `aws://us-east-1a/vol-1\n`
    ControlCharacter,
    /// `aws://z y/vol-1`
    ZoneCharacter,
    /// `aws://z:x/vol-1`
    ZonePort,
    /// `aws://a b@z/vol-1`
    UserInfo,
    /// `aws://z/vol-%zz`
    Escape,
    /// `aws://vol-1234`
    IdAsZone,
    /// `aws://z/`
    NoId,
    /// `aws://z/a/vol-1234`
    InnerSlash,
    /// `aws://z/i-1234`
    Prefix,
    /// `aws://z/VOL-1`
    PrefixCase,
    /// `aws://z/vol-%31`. Kubernetes decodes it and takes the id; a canonical id must occur in its text as it stands, so both
    /// modes reject it. What is no id once decoded breaks the other rules: `aws://z/i-%31` is [`Rejection::Prefix`].
    NotLiteral,
    /// A CSI volume's handle that begins with `aws://`, which the driver hands to EC2 as it stands (B-16). In strict mode only; in
    /// lenient mode such a volume is identified, with a finding of severity error by the same code.
    UrlHandle,
    /// A leniency, in strict mode only.
    Strict(Leniency),
}

impl Rejection {
    /// The code of the broken rule.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::ControlCharacter => "parse-control-character",
            Self::ZoneCharacter => "parse-zone-character",
            Self::ZonePort => "parse-zone-port",
            Self::UserInfo => "parse-user-info",
            Self::Escape => "parse-escape",
            Self::IdAsZone => "format-id-as-zone",
            Self::NoId => "format-no-id",
            Self::InnerSlash => "format-inner-slash",
            Self::Prefix => "format-prefix",
            Self::PrefixCase => "format-prefix-case",
            Self::NotLiteral => "not-literal",
            Self::UrlHandle => "url-handle",
            Self::Strict(leniency) => leniency.code(),
        }
    }

    const fn cause(self) -> &'static str {
        match self {
            Self::Empty => "it names no volume",
            Self::ControlCharacter => "it can't be parsed as a URL, since it holds a control character",
            Self::ZoneCharacter => {
                "it can't be parsed as a URL, since the zone part holds a character that no host name may hold"
            }
            Self::ZonePort => {
                "it can't be parsed as a URL, since the zone part holds a colon with no port number behind it"
            }
            Self::UserInfo => "it can't be parsed as a URL, since what stands before the at sign is no user name",
            Self::Escape => "it can't be parsed as a URL, since two hexadecimal digits must follow each percent sign",
            Self::IdAsZone => "the id stands where the zone belongs; write three slashes",
            Self::NoId => "no id follows the zone part",
            Self::InnerSlash => "more than one part follows the zone part",
            Self::Prefix => "the id does not begin with \"vol-\"",
            Self::PrefixCase => "\"vol-\" must be written in lower case",
            Self::NotLiteral => "the id is percent-encoded; write it as EC2 does",
            Self::UrlHandle => "a CSI volume's handle is the bare id, and this one reaches EC2 as it stands",
            Self::Strict(leniency) => leniency.cause(),
        }
    }

    /// The problem, with the text in `subject` that was read.
    #[must_use]
    pub fn into_problem(self, subject: &str, text: &str) -> Problem {
        problem(subject, text, self.code(), format!("{text:?} is no volume id: {}", self.cause()), &ACCEPTED)
    }
}
