//! What is done at each attempt of a call: it is counted, it moves the pace, and an answer that was cut short is refused.

use std::any::type_name;
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use aws_sdk_ec2::config::interceptors::{
    BeforeTransmitInterceptorContextRef, FinalizerInterceptorContextMut, FinalizerInterceptorContextRef,
};
use aws_sdk_ec2::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_ec2::error::{BoxError, ProvideErrorMetadata};
use aws_smithy_runtime_api::client::orchestrator::{HttpResponse, OrchestratorError};
use aws_smithy_runtime_api::client::retries::RequestAttempts;
use aws_smithy_types::config_bag::{Storable, StoreReplace};
use metrics::{counter, histogram};
use tokio::time::Instant;

use super::fault;
use super::pace::Limiter;

/// Watches the attempts of one operation, whose error type is `E`.
pub(super) struct Meter<E> {
    operation: &'static str,
    limiter: Arc<Limiter>,
    error: PhantomData<fn() -> E>,
}

impl<E> Meter<E> {
    pub(super) fn new(operation: &'static str, limiter: Arc<Limiter>) -> Self {
        Self { operation, limiter, error: PhantomData }
    }
}

impl<E> fmt::Debug for Meter<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(type_name::<Self>()).field("operation", &self.operation).finish_non_exhaustive()
    }
}

/// When the attempt was sent.
#[derive(Clone, Copy, Debug)]
struct SentAt(Instant);

impl Storable for SentAt {
    type Storer = StoreReplace<Self>;
}

impl<E: ProvideErrorMetadata + Error + Send + Sync + 'static> Intercept for Meter<E> {
    fn name(&self) -> &'static str {
        "zonewarden-meter"
    }

    fn read_before_attempt(
        &self,
        _context: &BeforeTransmitInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        bag: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if bag.load::<RequestAttempts>().is_some_and(|attempts| attempts.attempts() > 1) {
            self.limiter.charge();
        }
        bag.interceptor_state().store_put(SentAt(Instant::now()));
        Ok(())
    }

    /// The SDK reads a list that was cut short as a shorter list. That would turn a broken connection into volumes that are
    /// not there, so such an answer is refused, and retried like every answer that can't be read.
    fn modify_before_attempt_completion(
        &self,
        context: &mut FinalizerInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        _bag: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let is_cut_short = context.response().is_some_and(|response| is_cut_short(response, self.operation));
        if let Some(answer) = context.output_or_error_mut()
            && answer.is_ok()
            && is_cut_short
        {
            *answer = Err(OrchestratorError::response("the answer is cut short".into()));
        }
        Ok(())
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        bag: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let Some(answer) = context.output_or_error() else { return Ok(()) };
        let sent_at = bag.load::<SentAt>().map_or_else(Instant::now, |SentAt(instant)| *instant);
        let code = match answer {
            Ok(_) => Some("ok"),
            Err(error) => error.as_operation_error().and_then(|error| error.downcast_ref::<E>()?.code()),
        };
        let is_throttle = code.is_some_and(fault::is_throttle);
        let label = match (code, answer) {
            (Some("ok"), _) => "ok",
            (Some(code), _) => fault::label(code),
            (None, Err(error)) if error.is_timeout_error() => "timeout",
            (None, Err(error)) if error.is_connector_error() => "connection",
            (None, _) => "unreadable",
        };
        counter!("zonewarden_ec2_requests_total", "operation" => self.operation, "code" => label).increment(1);
        histogram!("zonewarden_ec2_request_duration_seconds", "operation" => self.operation)
            .record(sent_at.elapsed().as_secs_f64());
        if is_throttle {
            counter!("zonewarden_ec2_throttles_total", "operation" => self.operation).increment(1);
            self.limiter.throttled(sent_at);
        } else if code.is_some() {
            self.limiter.answered();
        }
        Ok(())
    }
}

/// Whether the body does not end as a whole answer to the operation does.
fn is_cut_short(response: &HttpResponse, operation: &str) -> bool {
    let body = response.body().bytes().unwrap_or_default().trim_ascii_end();
    let end = format!("{operation}Response>");
    response.status().is_success() && !body.ends_with(end.as_bytes())
}

#[cfg(test)]
mod tests {
    use aws_smithy_types::body::SdkBody;

    use super::*;

    #[track_caller]
    fn check(status: u16, body: &str, expected: bool) {
        let response = HttpResponse::new(status.try_into().expect("a valid status"), SdkBody::from(body));
        assert_eq!(is_cut_short(&response, "DescribeVolumes"), expected, "{body}");
    }

    #[test]
    fn d_28_an_answer_ends_with_its_own_name() {
        check(200, "<DescribeVolumesResponse><volumeSet/></DescribeVolumesResponse>", false);
        check(200, "<DescribeVolumesResponse><volumeSet/></DescribeVolumesResponse>\n", false);
        check(200, "<DescribeVolumesResponse><volumeSet><item><volumeId>vol-1</volumeId></item>", true);
        check(200, "<DescribeVolumesResponse><volumeSet/></DescribeVolumesRespon", true);
        check(200, "", true);
        check(503, "<Response><Errors>", false);
    }
}
