//! The API server as it is asked and written to, one request at a time.

use std::path::Path;
use std::time::Duration;

use http::{HeaderValue, Request};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::params::{GetParams, ListParams};
use serde::de::IgnoredAny;
use zonewarden_documents::{Code, Piece, Place, Problem, Text};

use super::decode::{self, API_SERVER};
use super::{errors, proxy, requests, resources};
use crate::api::{Api, ApiError, Reply, Write};
use crate::objects::{Kind, Object};
use crate::reading::Reading;
use crate::records::{ObjectName, Pod};

/// An answer that takes longer is none.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// kube's backoff goes on to 30 seconds after a failure; but a world that is that old costs more than a request every ten
/// seconds.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// So many objects are asked for at once, as client-go does.
const PAGE_SIZE: u32 = 500;

const USER_AGENT: &str = concat!("zonewarden/", env!("CARGO_PKG_VERSION"));

/// An API server. Clones share their connections.
#[derive(Clone)]
pub struct Client {
    kube: kube::Client,
    /// Who of us reports events.
    instance: String,
    longest_pause: Duration,
}

/// Why there is no client.
#[derive(Debug)]
pub struct ConnectError(String);

impl std::fmt::Display for ConnectError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConnectError {}

impl From<kube::Client> for Client {
    fn from(kube: kube::Client) -> Self {
        Self { kube, instance: requests::FIELD_MANAGER.to_owned(), longest_pause: LONGEST_PAUSE }
    }
}

impl Client {
    /// Finds the API server as kubectl does: by this kubeconfig, else by those that `KUBECONFIG` names, else by
    /// `~/.kube/config`, else by the service account of the pod that this runs in. `context` chooses another context than the
    /// kubeconfig's current one. Its proxy is the kubeconfig's, else the environment's. Nothing is asked of the API server yet.
    ///
    /// # Errors
    /// What is wrong with the kubeconfig, or that there is none and no service account either.
    pub async fn connect(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<Self, ConnectError> {
        let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
        let failed = |error: &dyn std::error::Error| ConnectError(errors::causes(error));
        let mut config = match kubeconfig {
            Some(path) => {
                let kubeconfig = Kubeconfig::read_from(path).map_err(|error| failed(&error))?;
                kube::Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(|error| failed(&error))?
            }
            None if context.is_some() => {
                kube::Config::from_kubeconfig(&options).await.map_err(|error| failed(&error))?
            }
            None => kube::Config::infer().await.map_err(|error| failed(&error))?,
        };
        proxy::take_back(&mut config);
        config.connect_timeout = Some(ANSWER_TIMEOUT);
        config.headers.push((http::header::USER_AGENT, HeaderValue::from_static(USER_AGENT)));
        let kube = kube::Client::try_from(config).map_err(|error| failed(&error))?;
        Ok(Self::from(kube))
    }

    /// The same, with the name under which this process reports events: its pod's or its host's.
    #[must_use]
    pub fn reporting_as(self, instance: &str) -> Self {
        Self { instance: instance.to_owned(), ..self }
    }

    /// The same, with another longest pause between the tries of a watch that fails.
    #[must_use]
    pub fn pausing_at_most(self, longest_pause: Duration) -> Self {
        Self { longest_pause, ..self }
    }

    /// The namespace of the kubeconfig's context, or of the pod that this runs in.
    pub fn default_namespace(&self) -> &str {
        self.kube.default_namespace()
    }

    pub(super) fn kube(&self) -> &kube::Client {
        &self.kube
    }

    pub(super) fn longest_pause(&self) -> Duration {
        self.longest_pause
    }

    /// Sends a request and returns the body of the answer.
    pub(super) async fn ask(&self, request: Request<Vec<u8>>) -> Result<String, Refusal> {
        match tokio::time::timeout(ANSWER_TIMEOUT, self.kube.request_text(request)).await {
            Ok(answer) => answer.map_err(Refusal::Answer),
            Err(_) => Err(Refusal::Silence),
        }
    }

    async fn get(&self, kind: Kind, name: &ObjectName) -> Result<Option<Object>, ApiError> {
        let path = resources::collection(kind, &name.namespace);
        let request = kube::core::Request::new(path).get(&name.name, &GetParams::default());
        let request = request.map_err(|error| ApiError::Invalid(error.to_string()))?;
        let body = match self.ask(request).await {
            Err(Refusal::Answer(error)) if errors::is_absent(&error) => return Ok(None),
            answer => answer?,
        };
        object_of(decode::read(kind, &body)).map(Some)
    }

    /// All pods of a namespace, or of all of them, that a field selector chooses. All or none: an answer that lacks one pod
    /// is as good as a wrong one.
    async fn pods(&self, namespace: &str, fields: Option<String>) -> Result<Vec<Pod>, ApiError> {
        let resource = kube::core::Request::new(resources::collection(Kind::Pod, namespace));
        let mut params = ListParams { field_selector: fields, limit: Some(PAGE_SIZE), ..ListParams::default() };
        let mut pods = Vec::new();
        loop {
            let request = resource.list(&params).map_err(|error| ApiError::Invalid(error.to_string()))?;
            let page = self.ask(request).await?;
            let next = pods_of_page(&page, &mut pods)?;
            if next.is_none() {
                return Ok(pods);
            }
            // Whoever stands in between and does not know the token would give the same page for ever.
            if next == params.continue_token {
                return Err(ApiError::Unreadable("the list does not go on: its continue token came twice".to_owned()));
            }
            params.continue_token = next;
        }
    }

    async fn write(&self, write: &Write) -> Result<(), ApiError> {
        let request = requests::request(write, &self.instance).map_err(|error| ApiError::Invalid(error.to_string()))?;
        match self.ask(request).await {
            // Its name says what it tells and when: the answer to an earlier try got lost.
            Err(Refusal::Answer(error)) if matches!(write, Write::Event(_)) && errors::already_exists(&error) => Ok(()),
            answer => Ok(answer.map(drop)?),
        }
    }
}

impl Api for Client {
    fn get<'a>(&'a self, kind: Kind, name: &'a ObjectName) -> Reply<'a, Option<Object>> {
        Box::pin(self.get(kind, name))
    }

    fn pods_on_node<'a>(&'a self, node: &'a str) -> Reply<'a, Vec<Pod>> {
        Box::pin(self.pods("", Some(format!("spec.nodeName={node}"))))
    }

    fn pods_in_namespace<'a>(&'a self, namespace: &'a str) -> Reply<'a, Vec<Pod>> {
        Box::pin(self.pods(namespace, None))
    }

    fn write<'a>(&'a self, write: &'a Write) -> Reply<'a, ()> {
        Box::pin(self.write(write))
    }
}

/// Why there is no answer to work with.
#[derive(Debug)]
pub(super) enum Refusal {
    Answer(kube::Error),
    Silence,
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Answer(error) => errors::of(&error),
            Refusal::Silence => Self::Unavailable(format!("none within {} s", ANSWER_TIMEOUT.as_secs())),
        }
    }
}

fn object_of(reading: Reading) -> Result<Object, ApiError> {
    let why = reading.problems.first().map(Problem::to_string);
    reading.object.ok_or_else(|| ApiError::Unreadable(why.unwrap_or_default()))
}

/// Adds the pods of a page of a list; returns what the next page is asked for with.
fn pods_of_page(page: &str, pods: &mut Vec<Pod>) -> Result<Option<String>, ApiError> {
    let unreadable = |problem: &Problem| ApiError::Unreadable(problem.to_string());
    let text = Text::new(API_SERVER, page.as_bytes());
    let empty = || Problem::error(Code::Empty, Place::file(API_SERVER), "there is nothing in the answer");
    let document = text.documents().into_iter().next().unwrap_or_else(|| Err(empty()));
    let document = document.map_err(|problem| unreadable(&problem))?;
    let list = document.piece.mapping("items");
    if let Some(fault) = list.fault {
        return Err(unreadable(&document.problem(fault)));
    }
    // A list without elements may say null; an answer that is no list at all says nothing about pods.
    let is_null = |items: &Piece<'_>| matches!(items.read::<Option<IgnoredAny>>(&[]), Ok(None));
    if list.elements.is_none() && !list.entry("items").is_some_and(is_null) {
        return Err(ApiError::Unreadable("the answer is no list of pods".to_owned()));
    }
    for piece in list.elements.iter().flatten() {
        match object_of(Reading::of(Kind::Pod, &document, piece))? {
            Object::Pod(pod) => pods.push(pod),
            other => return Err(ApiError::Unreadable(format!("a {} in a list of pods", other.kind()))),
        }
    }
    let metadata = list.entry("metadata").map(|metadata| metadata.mapping("items"));
    let token = metadata.and_then(|metadata| metadata.string("continue"));
    Ok(token.filter(|token| !token.is_empty()))
}
