//! The way to AWS: direct, or through the proxy that the environment names.
//!
//! `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` are read as curl reads them, in capital and small letters. What is at
//! hand is asked directly whatever they say: the services that hand out credentials (instance metadata, EKS Pod Identity, ECS)
//! answer by who asks, and asked through a proxy they would hand out the proxy's.

use std::net::IpAddr;

use aws_sdk_ec2::config::{ConfigBag, RuntimeComponents, SharedHttpClient};
use aws_sdk_ec2::error::BoxError;
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_http_client::{Builder, Connector};
use aws_smithy_runtime_api::client::connector_metadata::ConnectorMetadata;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponentsBuilder;
use http::Uri;

/// What can name a proxy.
const VARIABLES: [&str; 6] = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// HTTPS by rustls on ring with the system's roots: the SDK's own default would bring a second cryptography library, written
/// in C, beside the one that the Kubernetes client has.
const TLS: Provider = Provider::Rustls(CryptoMode::Ring);

/// The client of everything that is asked of AWS.
pub(super) fn http_client() -> SharedHttpClient {
    let direct = Builder::new().tls_provider(TLS).build_https();
    let is_named = VARIABLES.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if !is_named {
        return direct;
    }
    let proxied = Builder::new().build_with_connector_fn(|settings, components| {
        let mut builder = Connector::builder().tls_provider(TLS).proxy_config(ProxyConfig::from_env());
        builder.set_connector_settings(settings.cloned());
        if let Some(components) = components {
            builder.set_sleep_impl(components.sleep_impl());
        }
        builder.build()
    });
    SharedHttpClient::new(Ways { direct, proxied })
}

/// Both ways.
#[derive(Debug)]
struct Ways<T> {
    direct: T,
    proxied: T,
}

impl HttpClient for Ways<SharedHttpClient> {
    fn http_connector(&self, settings: &HttpConnectorSettings, components: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(Ways {
            direct: self.direct.http_connector(settings, components),
            proxied: self.proxied.http_connector(settings, components),
        })
    }

    fn validate_base_client_config(
        &self,
        components: &RuntimeComponentsBuilder,
        bag: &ConfigBag,
    ) -> Result<(), BoxError> {
        self.direct.validate_base_client_config(components, bag)?;
        self.proxied.validate_base_client_config(components, bag)
    }

    fn connector_metadata(&self) -> Option<ConnectorMetadata> {
        self.direct.connector_metadata()
    }
}

impl HttpConnector for Ways<SharedHttpConnector> {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let way = if is_at_hand(request.uri()) { &self.direct } else { &self.proxied };
        way.call(request)
    }
}

/// Whether an address is this machine's own, or on its own link, where no proxy stands in between.
fn is_at_hand(uri: &str) -> bool {
    let Ok(uri) = uri.parse::<Uri>() else { return false };
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    match host.parse() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_link_local(),
        // AWS's own services are at fd00:ec2::/32.
        Ok(IpAddr::V6(address)) => {
            address.is_loopback() || address.is_unicast_link_local() || address.segments()[..2] == [0xfd00, 0xec2]
        }
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_at_hand_is_never_asked_through_a_proxy() {
        for uri in [
            "http://169.254.169.254/latest/api/token",
            "http://169.254.170.2/v2/credentials?id=1",
            "http://169.254.170.23/v1/credentials",
            "http://[fd00:ec2::254]/latest/meta-data/",
            "http://[fd00:ec2::23]/v1/credentials",
            "http://[fe80::1]:80/",
            "http://[::1]:4566",
            "http://127.0.0.1:4566/",
            "http://127.1.2.3",
            "https://localhost:4566/",
            "http://LOCALHOST#fragment",
            "http://user:pass@localhost/",
        ] {
            assert!(is_at_hand(uri), "{uri}");
        }
        for uri in [
            "https://ec2.us-east-1.amazonaws.com/",
            "https://sts.amazonaws.com",
            "http://10.0.0.1/",
            "http://[fd00:ec3::254]/",
            "http://localhost.example.com/",
            "http://127.0.0.1.example.com/",
            "http://localhost@example.com/",
            "http://example.com/169.254.169.254",
            "",
        ] {
            assert!(!is_at_hand(uri), "{uri}");
        }
    }
}
