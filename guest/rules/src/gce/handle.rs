//! Volume handles of the GCE CSI driver (B-13, B-14): `projects/<project>/zones/<zone>/disks/<name>`.

use super::region_of_zone;
use std::collections::BTreeSet;
use std::fmt;

/// What stands for a part that is not known yet.
const UNSPECIFIED: &str = "UNSPECIFIED";

/// Where a handle says that the disk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location<'a> {
    /// In a zone.
    Zone(&'a str),
    /// In a region.
    Region(&'a str),
    /// In a zone that is not known: that of a volume which a pod names directly.
    Unspecified,
}

/// A volume handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle<'a> {
    /// The project; `None` where it is not known.
    pub project: Option<&'a str>,
    /// The place.
    pub location: Location<'a>,
    /// The disk's name.
    pub disk: &'a str,
}

/// Why a handle, or the node's id that it is to be repaired by, can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadHandle {
    /// The handle is not of the form in this module's title.
    Form,
    /// The node's id is not `projects/<project>/zones/<zone>/instances/<name>`.
    NodeId,
    /// The zones of a regional disk lie in several regions, or in none that can be told.
    Region,
}

/// A handle that was repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// The handle, whole.
    pub handle: String,
    /// Whether its zone is only the node's. If the disk is elsewhere, attaching it says "not found" and not "wrong zone".
    pub zone_is_the_nodes: bool,
}

impl<'a> Handle<'a> {
    /// The handle of an in-tree volume by the zones of its disk (B-14): one is zonal, several are regional.
    ///
    /// # Errors
    /// Zones of several regions, or without one.
    pub fn of_zones(disk: &'a str, zones: &'a BTreeSet<String>) -> Result<Self, BadHandle> {
        let mut names = zones.iter().map(String::as_str);
        let location = match (names.next(), zones.len()) {
            (None, _) => Location::Unspecified,
            (Some(zone), 1) => Location::Zone(zone),
            (Some(zone), _) => {
                let region = region_of_zone(zone).ok_or(BadHandle::Region)?;
                if names.any(|zone| region_of_zone(zone) != Some(region)) {
                    return Err(BadHandle::Region);
                }
                Location::Region(region)
            }
        };
        Ok(Self { project: None, location, disk })
    }

    /// Reads a handle.
    ///
    /// # Errors
    /// A text of another form.
    pub fn parse(text: &'a str) -> Result<Self, BadHandle> {
        let [project, kind, place, "disks", disk] = parts(text).ok_or(BadHandle::Form)? else {
            return Err(BadHandle::Form);
        };
        let location = match (kind, place) {
            ("zones", UNSPECIFIED) => Location::Unspecified,
            ("zones", zone) => Location::Zone(zone),
            ("regions", region) if region != UNSPECIFIED => Location::Region(region),
            _ => return Err(BadHandle::Form),
        };
        Ok(Self { project: Some(project).filter(|project| *project != UNSPECIFIED), location, disk })
    }
}

impl fmt::Display for Handle<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let project = self.project.unwrap_or(UNSPECIFIED);
        let (kind, place) = match self.location {
            Location::Zone(zone) => ("zones", zone),
            Location::Region(region) => ("regions", region),
            Location::Unspecified => ("zones", UNSPECIFIED),
        };
        write!(out, "projects/{project}/{kind}/{place}/disks/{}", self.disk)
    }
}

/// Fills in what a handle lacks from the id of the node that it is attached to (B-13). A handle with a project is whole.
///
/// # Errors
/// A handle or a node's id of another form.
pub fn repair(handle: &str, node_id: &str) -> Result<Repaired, BadHandle> {
    let parsed = Handle::parse(handle)?;
    if parsed.project.is_some() {
        return Ok(Repaired { handle: handle.to_owned(), zone_is_the_nodes: false });
    }
    let [project, "zones", zone, "instances", _] = parts(node_id).ok_or(BadHandle::NodeId)? else {
        return Err(BadHandle::NodeId);
    };
    let zone_is_the_nodes = parsed.location == Location::Unspecified;
    let location = if zone_is_the_nodes { Location::Zone(zone) } else { parsed.location };
    let whole = Handle { project: Some(project), location, ..parsed };
    Ok(Repaired { handle: whole.to_string(), zone_is_the_nodes })
}

/// The five parts behind `projects/`, none of them empty.
fn parts(text: &str) -> Option<[&str; 5]> {
    let mut parts = text.strip_prefix("projects/")?.split('/');
    let found = [parts.next()?, parts.next()?, parts.next()?, parts.next()?, parts.next()?];
    (parts.next().is_none() && !found.contains(&"")).then_some(found)
}
