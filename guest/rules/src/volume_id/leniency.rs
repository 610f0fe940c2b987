//! What Kubernetes lets pass in a volume id although no documentation shows it.

/// One such thing. Lenient mode warns of it; strict mode rejects the id, all but [`Leniency::UnusualLength`].
///
/// The order is the order in which warnings come; strict mode names the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leniency {
    /// ` vol-1`, `vol-1\n`: Kubernetes keeps the whitespace, EC2 would not find such a volume; it is trimmed (D-4).
    SurroundingWhitespace,
    /// `AWS://z/vol-1`: Kubernetes takes the whole text for an id.
    SchemeCase,
    /// `aws:/vol-1`: Kubernetes takes the whole text for an id.
    SchemeSlashes,
    /// `aws:////vol-1`
    ExtraSlash,
    /// `aws://us-east-1a/vol-1/`
    TrailingSlash,
    /// `aws://us-east-1a/vol-1?x=y`
    Query,
    /// `aws://us-east-1a/vol-1#f`
    Fragment,
    /// `aws://us-east-1a/vol-1%2F`: only slashes around the id may be written so; see `not-literal`.
    PercentEncoding,
    /// `aws://use1-az6/vol-1`: a zone's id where its name belongs (D-37).
    ZoneId,
    /// `aws://unknown/vol-1`: not the name of a zone in any shape that is known.
    ZoneShape,
    /// `garbage`
    NotVolPrefix,
    /// `vol-`
    EmptySuffix,
    /// `vol-1/x`
    SlashInId,
    /// `vol-a b`
    InnerWhitespace,
    /// `vol-ABC`. It is not lower-cased: a canonical id must occur in the text, and EC2 knows no such id.
    UpperCase,
    /// `vol-xyz`
    NotHex,
    /// `vol-1234`: EC2's ids have 8 or 17 hexadecimal digits. No type of Kubernetes assumes that, so strict mode takes it too.
    UnusualLength,
}

impl Leniency {
    /// All of them, in order.
    pub const ALL: [Self; 17] = [
        Self::SurroundingWhitespace,
        Self::SchemeCase,
        Self::SchemeSlashes,
        Self::ExtraSlash,
        Self::TrailingSlash,
        Self::Query,
        Self::Fragment,
        Self::PercentEncoding,
        Self::ZoneId,
        Self::ZoneShape,
        Self::NotVolPrefix,
        Self::EmptySuffix,
        Self::SlashInId,
        Self::InnerWhitespace,
        Self::UpperCase,
        Self::NotHex,
        Self::UnusualLength,
    ];

    /// The code: of the warning in lenient mode, of the broken rule in strict mode.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::SurroundingWhitespace => "surrounding-whitespace",
            Self::SchemeCase => "scheme-case",
            Self::SchemeSlashes => "scheme-slashes",
            Self::ExtraSlash => "extra-slash",
            Self::TrailingSlash => "trailing-slash",
            Self::Query => "query",
            Self::Fragment => "fragment",
            Self::PercentEncoding => "percent-encoding",
            Self::ZoneId => "zone-id",
            Self::ZoneShape => "zone-shape",
            Self::NotVolPrefix => "not-vol-prefix",
            Self::EmptySuffix => "empty-suffix",
            Self::SlashInId => "slash-in-id",
            Self::InnerWhitespace => "inner-whitespace",
            Self::UpperCase => "upper-case",
            Self::NotHex => "not-hex",
            Self::UnusualLength => "unusual-length",
        }
    }

    /// What is the matter, to follow the text and a colon.
    #[must_use]
    pub const fn cause(self) -> &'static str {
        match self {
            Self::SurroundingWhitespace => "there is whitespace around the id, which Kubernetes does not trim",
            Self::SchemeCase => {
                "the scheme is not written \"aws\" in lower case, so Kubernetes takes the whole text for an id"
            }
            Self::SchemeSlashes => "two slashes must follow \"aws:\", else Kubernetes takes the whole text for an id",
            Self::ExtraSlash => "there is more than one slash before the id",
            Self::TrailingSlash => "there is a slash behind the id",
            Self::Query => "there is a query behind the id, which is ignored",
            Self::Fragment => "there is a fragment behind the id, which is ignored",
            Self::PercentEncoding => "slashes around the id are percent-encoded",
            Self::ZoneId => "the zone part is a zone's id where its name belongs, so it is not used",
            Self::ZoneShape => "the zone part is no zone's name, so it is not used",
            Self::NotVolPrefix => "it does not begin with \"vol-\"",
            Self::EmptySuffix => "nothing follows \"vol-\"",
            Self::SlashInId => "there is a slash in the id",
            Self::InnerWhitespace => "there is whitespace in the id",
            Self::UpperCase => "there are upper case letters in the id, and EC2's ids have none",
            Self::NotHex => "not everything behind \"vol-\" is a hexadecimal digit",
            Self::UnusualLength => "EC2's ids have 8 or 17 hexadecimal digits behind \"vol-\"",
        }
    }

    /// Whether strict mode rejects the id for it.
    #[must_use]
    pub const fn is_strict(self) -> bool {
        !matches!(self, Self::UnusualLength)
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// A set of leniencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Leniencies(u32);

impl Leniencies {
    /// Adds one.
    pub(super) const fn add(&mut self, leniency: Leniency) {
        self.0 |= leniency.bit();
    }

    /// Whether this one is in the set.
    #[must_use]
    pub const fn has(self, leniency: Leniency) -> bool {
        self.0 & leniency.bit() != 0
    }

    /// Those in the set, in order.
    pub fn iter(self) -> impl Iterator<Item = Leniency> {
        Leniency::ALL.into_iter().filter(move |leniency| self.has(*leniency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_leniency_has_a_bit_a_code_and_a_cause_of_its_own() {
        let mut all = Leniencies::default();
        for (position, leniency) in Leniency::ALL.into_iter().enumerate() {
            assert_eq!(leniency as usize, position);
            assert!(!all.has(leniency));
            all.add(leniency);
            all.add(leniency);
            assert!(all.has(leniency));
        }
        assert!(all.iter().eq(Leniency::ALL));
        let texts = |text: fn(Leniency) -> &'static str| Leniency::ALL.into_iter().map(text).collect::<BTreeSet<_>>();
        assert_eq!(texts(Leniency::code).len(), Leniency::ALL.len());
        assert_eq!(texts(Leniency::cause).len(), Leniency::ALL.len());
    }
}
