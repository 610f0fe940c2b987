//! Whether the API server is asked through the proxy that the environment names.
//!
//! kube takes `HTTPS_PROXY` for each API server of a kubeconfig that has no `proxy-url`, and holds `NO_PROXY` against the proxy's
//! own name. Here it is as with kubectl: `NO_PROXY` names the API servers that are asked directly, and one on this machine always
//! is. The `proxy-url` of a kubeconfig is followed whatever the environment says, and the service account of a pod knows no proxy.

use std::net::IpAddr;

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;

/// The variables that kube reads.
const VARIABLES: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];

/// Takes a proxy back that kube read from the environment, where the API server is exempt from it.
pub(super) fn take_back(config: &mut kube::Config) {
    let named = VARIABLES.iter().filter_map(|name| std::env::var(name).ok()).find(|value| !value.is_empty());
    let named = named.and_then(|value| value.parse::<Uri>().ok());
    if config.proxy_url.is_some() && config.proxy_url == named && is_exempt(&config.cluster_url, &Matcher::from_env()) {
        config.proxy_url = None;
    }
}

fn is_exempt(server: &Uri, environment: &Matcher) -> bool {
    let host = server.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let is_here = host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    is_here || environment.intercept(server).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_server_that_no_proxy_names_or_that_is_here_is_asked_directly() {
        let environment = Matcher::builder().https("http://proxy.test:3128").no("api.test, 10.0.0.0/8").build();
        let is_exempt = |server: &'static str| is_exempt(&Uri::from_static(server), &environment);
        for server in [
            "https://api.test:6443",
            "https://blue.api.test",
            "https://10.96.0.1",
            "https://127.0.0.1:6443",
            "https://[::1]:6443",
            "https://localhost:6443",
        ] {
            assert!(is_exempt(server), "{server}");
        }
        for server in ["https://0123.gr7.us-east-1.eks.amazonaws.com", "https://11.0.0.1", "https://localhost.test"] {
            assert!(!is_exempt(server), "{server}");
        }
    }
}
