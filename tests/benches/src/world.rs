//! A cluster and its EC2 account of any size, as kubectl and the AWS CLI print them.
//!
//! Mostly healthy: three zones, pods with a claim spread unevenly over the nodes of their volume's zone. One claim in a hundred
//! belongs to a pod that is still to be placed, one volume in a hundred is an in-tree one that carries nothing, one node in two
//! hundred has a terminated instance. Everything follows from numbers: two runs write the same bytes.

mod ec2;
mod objects;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde_json::{Value, json};

/// How large a world is.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// PersistentVolumes, each with a claim and a pod that uses it.
    pub volumes: usize,
    /// Nodes.
    pub nodes: usize,
    /// Pods, those with a claim among them.
    pub pods: usize,
}

/// The notation of the cluster's file. What the AWS CLI prints is always JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// `kubectl get -o json`
    Json,
    /// `kubectl get -o yaml`
    Yaml,
}

impl Notation {
    /// Its name, which is the file's ending too.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Yaml => "yaml",
        }
    }
}

/// Writes a world below a folder, as `check --world` reads it, with all objects of the cluster in one List.
///
/// # Errors
/// What the file system says.
pub fn write(folder: &Path, size: Size, notation: Notation) -> io::Result<()> {
    fs::create_dir_all(folder.join("cluster"))?;
    fs::create_dir_all(folder.join("ec2"))?;
    let mut file = BufWriter::new(File::create(folder.join("cluster").join(format!("all.{}", notation.name())))?);
    let mut list = List { out: &mut file, notation, is_first: true };
    list.open()?;
    objects::all(size, &mut |object| list.item(&object))?;
    list.close()?;
    file.flush()?;
    let volumes: Vec<Value> = (0..size.volumes).map(|number| ec2::volume(size, number)).collect();
    let instances: Vec<Value> = (0..size.nodes).map(|number| ec2::reservation(size, number)).collect();
    let listed = [("volumes", json!({ "Volumes": volumes })), ("instances", json!({ "Reservations": instances }))];
    for (name, value) in listed {
        let file = BufWriter::new(File::create(folder.join("ec2").join(format!("{name}.json")))?);
        serde_json::to_writer_pretty(file, &value)?;
    }
    Ok(())
}

/// A page of a list as the API server prints it, from an object's number on; the resource is as in its path. Names the number
/// that the next page begins with as its token.
#[must_use]
pub fn page(size: Size, resource: &str, from: usize, limit: usize) -> Value {
    let items: Vec<Value> =
        (from..from + limit).map_while(|number| objects::numbered(size, resource, number)).collect();
    let next = from + items.len();
    let token = objects::numbered(size, resource, next).map_or_else(String::new, |_| next.to_string());
    json!({ "apiVersion": "v1", "kind": "List", "metadata": { "resourceVersion": "190000", "continue": token },
            "items": items })
}

/// A List that is written item by item.
struct List<'a, W> {
    out: &'a mut W,
    notation: Notation,
    is_first: bool,
}

impl<W: Write> List<'_, W> {
    fn open(&mut self) -> io::Result<()> {
        match self.notation {
            Notation::Json => write!(self.out, "{{\n    \"apiVersion\": \"v1\",\n    \"items\": ["),
            Notation::Yaml => writeln!(self.out, "apiVersion: v1\nitems:"),
        }
    }

    fn item(&mut self, object: &Value) -> io::Result<()> {
        let (text, first, next) = match self.notation {
            Notation::Json => {
                write!(self.out, "{}", if self.is_first { "\n" } else { ",\n" })?;
                (pretty(object)?, "        ", "        ")
            }
            Notation::Yaml => (serde_saphyr::to_string(object).map_err(io::Error::other)?, "- ", "  "),
        };
        self.is_first = false;
        let mut indent = first;
        let lines: Vec<&str> = text.lines().collect();
        for (position, line) in lines.iter().enumerate() {
            let is_last = position + 1 == lines.len() && self.notation == Notation::Json;
            write!(self.out, "{indent}{line}{}", if is_last { "" } else { "\n" })?;
            indent = next;
        }
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        match self.notation {
            Notation::Json => writeln!(
                self.out,
                "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {{\n        \"resourceVersion\": \"\"\n    }}\n}}"
            ),
            Notation::Yaml => writeln!(self.out, "kind: List\nmetadata:\n  resourceVersion: \"\""),
        }
    }
}

/// JSON with four spaces a level, as kubectl prints it.
fn pretty(object: &Value) -> io::Result<String> {
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    serde::Serialize::serialize(object, &mut serde_json::Serializer::with_formatter(&mut bytes, formatter))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

const ZONES: [&str; 3] = ["us-east-1a", "us-east-1b", "us-east-1c"];

fn zone(node: usize) -> &'static str {
    ZONES[node % ZONES.len()]
}

/// The node that a volume is attached to: spread unevenly, as schedulers do.
fn node_of_volume(size: Size, volume: usize) -> usize {
    // Multiplicative hashing, by a prime near the golden section of 2^32.
    (volume.wrapping_mul(2_654_435_761) >> 7) % size.nodes
}

fn is_waiting(volume: usize) -> bool {
    volume % 100 == 37
}

fn is_in_tree(volume: usize) -> bool {
    volume % 100 == 73
}

fn is_terminated(node: usize) -> bool {
    node % 200 == 111
}

fn node_name(node: usize) -> String {
    format!("ip-10-{}-{}-{}.ec2.internal", node % 3, node / 250, node % 250)
}

fn instance_id(node: usize) -> String {
    format!("i-0fedcba98765{node:05x}")
}

fn volume_id(volume: usize) -> String {
    format!("vol-0a1b2c3d4e5f{volume:05x}")
}

fn persistent_volume_name(volume: usize) -> String {
    format!("pvc-0d6f7c1e-6a52-4a52-9b0e-2f6f{volume:08x}")
}
