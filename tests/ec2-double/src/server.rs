//! The server: HTTP/1.1 on one port, each question a form, each answer a document.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, header};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use jiff::fmt::rfc2822::DateTimePrinter;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::double::Shared;
use crate::state::{Ending, Reply};

/// Accepts until it is dropped; its connections end with it.
pub(crate) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, Arc::clone(&shared)));
                }
                Err(error) => tracing::warn!(%error, "a connection was not accepted"),
            },
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "no TCP_NODELAY");
    }
    let resets = Arc::new(AtomicBool::new(false));
    let socket = Socket { stream, resets: Arc::clone(&resets) };
    let service = service_fn(move |request| answer(request, Arc::clone(&shared), Arc::clone(&resets)));
    if let Err(error) = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await {
        tracing::debug!(%error, "a connection ended early");
    }
}

async fn answer(
    request: Request<Incoming>,
    shared: Arc<Shared>,
    resets: Arc<AtomicBool>,
) -> Result<Response<Answer>, io::Error> {
    let form = if request.method() == Method::POST {
        request.into_body().collect().await.map_err(io::Error::other)?.to_bytes()
    } else {
        Bytes::from(request.uri().query().unwrap_or_default().to_owned())
    };
    let reply = shared.answer(&form);
    if !reply.delay.is_zero() {
        tokio::time::sleep(reply.delay).await;
    }
    match reply.ending {
        Ending::Reset => {
            resets.store(true, Ordering::Relaxed);
            Err(io::Error::from(io::ErrorKind::ConnectionReset))
        }
        Ending::Hang => match std::future::pending::<Infallible>().await {},
        Ending::Whole | Ending::Truncated | Ending::CutOff => Ok(response(reply)),
    }
}

fn response(reply: Reply) -> Response<Answer> {
    let mut bytes = Bytes::from(reply.body);
    if reply.ending != Ending::Whole {
        bytes.truncate(bytes.len() / 2);
    }
    let is_cut_off = reply.ending == Ending::CutOff;
    let mut response = Response::new(Answer { bytes: Some(bytes), is_cut_off, has_paused: false });
    *response.status_mut() = http::StatusCode::from_u16(reply.status).expect("errors have a valid status");
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/xml;charset=UTF-8"));
    headers.insert(header::SERVER, HeaderValue::from_static("AmazonEC2"));
    if let Ok(id) = HeaderValue::try_from(reply.request_id) {
        headers.insert("x-amzn-requestid", id);
    }
    let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&reply.date).ok();
    if let Some(date) = date.and_then(|date| HeaderValue::try_from(date).ok()) {
        headers.insert(header::DATE, date);
    }
    response
}

/// The body of an answer: one piece, after which the connection may break.
struct Answer {
    bytes: Option<Bytes>,
    is_cut_off: bool,
    has_paused: bool,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(bytes) = self.bytes.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        if !self.is_cut_off {
            return Poll::Ready(None);
        }
        // What is written goes out only while the body waits: without that the break would come before it.
        if !self.has_paused {
            self.has_paused = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::UnexpectedEof))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none() && !self.is_cut_off
    }

    fn size_hint(&self) -> SizeHint {
        match &self.bytes {
            Some(bytes) if !self.is_cut_off => SizeHint::with_exact(u64::try_from(bytes.len()).unwrap_or(u64::MAX)),
            _ => SizeHint::default(),
        }
    }
}

/// A connection that can end with a reset in place of an orderly end.
struct Socket {
    stream: TcpStream,
    resets: Arc<AtomicBool>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.resets.load(Ordering::Relaxed)
            && let Err(error) = self.stream.set_zero_linger()
        {
            tracing::debug!(%error, "the connection ends in order, not with a reset");
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // An orderly end would come before the reset.
        if self.resets.load(Ordering::Relaxed) {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
