//! What is served to who runs the program: `/metrics`, `/healthz`, `/readyz`.

use std::io;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use zonewarden_sync::Status;

use super::health::{Answer, Health};
use super::shutdown::Shutdown;

/// For how long requests that were begun may go on once the end is asked for.
const GRACE: Duration = Duration::from_secs(5);
/// How often old samples are put together, so that a program that nobody asks for its metrics does not grow.
const UPKEEP: Duration = Duration::from_secs(5);

/// The version of Prometheus' text format.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// What the answers are made from.
#[derive(Debug, Clone)]
struct Sources {
    health: Health,
    page: Page,
}

/// What the page of metrics is made from.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    /// What is counted.
    pub(crate) metrics: PrometheusHandle,
    /// How the host fares: it names the volumes that are stuck.
    pub(crate) status: watch::Receiver<Status>,
}

impl Page {
    fn render(&self) -> String {
        let mut text = self.metrics.render();
        text.push_str(&super::metrics::stuck_volumes(&self.status.borrow().stuck));
        text
    }
}

/// Serves until the end is asked for, and then what was begun.
pub(crate) async fn run(listener: TcpListener, health: Health, page: Page, shutdown: Shutdown) -> io::Result<()> {
    let metrics = page.metrics.clone();
    let routes = routes(Sources { health, page });
    let serving = axum::serve(listener, routes).with_graceful_shutdown(shutdown.clone().requested());
    let out_of_patience = async {
        shutdown.requested().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        served = serving.into_future() => served,
        () = out_of_patience => Ok(()),
        () = keep_up(&metrics) => Ok(()),
    }
}

/// Never ends.
async fn keep_up(metrics: &PrometheusHandle) {
    let mut ticks = tokio::time::interval(UPKEEP);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        metrics.run_upkeep();
    }
}

fn routes(sources: Sources) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/healthz", get(alive))
        .route("/readyz", get(ready))
        .with_state(sources)
}

async fn metrics(State(sources): State<Sources>) -> Response {
    ([(header::CONTENT_TYPE, PROMETHEUS)], sources.page.render()).into_response()
}

async fn alive(State(sources): State<Sources>) -> Response {
    told(sources.health.live(Instant::now()))
}

async fn ready(State(sources): State<Sources>) -> Response {
    told(sources.health.ready())
}

fn told(answer: Answer) -> Response {
    let status = if answer.is_good { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    // An empty text reads as if something were missing.
    let text = if answer.text.is_empty() { "ok\n".to_owned() } else { answer.text };
    (status, [(header::CONTENT_TYPE, TEXT)], text).into_response()
}

#[cfg(test)]
mod tests;
