//! The certificate authority of one control plane, and who it vouches for.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};

/// A certificate and its key, as files.
#[derive(Debug, Clone)]
pub struct KeyFiles {
    /// The certificate, in PEM.
    pub certificate: PathBuf,
    /// Its private key, in PEM.
    pub key: PathBuf,
}

/// Signs certificates and writes them into a folder.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: PathBuf,
    /// Its own certificate, in PEM.
    pub certificate: PathBuf,
}

impl Authority {
    /// Makes one of this name.
    ///
    /// # Errors
    /// Where the folder can't be written to.
    pub fn new(name: &str, folder: &Path) -> Result<Self> {
        let mut params = CertificateParams::new(Vec::default())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign];
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let certificate = folder.join(format!("{name}.crt"));
        write(&certificate, &issuer.pem())?;
        Ok(Self { issuer, folder: folder.to_owned(), certificate })
    }

    /// A certificate for a server on this machine.
    ///
    /// # Errors
    /// Where the folder can't be written to.
    pub fn server(&self, name: &str) -> Result<KeyFiles> {
        let hosts = ["127.0.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];
        let mut params = CertificateParams::new(hosts.map(String::from).to_vec())?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(name, params)
    }

    /// A certificate for a client: the API server takes the common name for the user and the organisation for the group.
    ///
    /// # Errors
    /// Where the folder can't be written to.
    pub fn client(&self, user: &str, group: Option<&str>) -> Result<KeyFiles> {
        let mut params = CertificateParams::new(Vec::default())?;
        if let Some(group) = group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(user, params)
    }

    fn sign(&self, name: &str, mut params: CertificateParams) -> Result<KeyFiles> {
        params.distinguished_name.push(DnType::CommonName, name);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let pair = KeyPair::generate()?;
        let signed = params.signed_by(&pair, &self.issuer)?;
        let file = |extension: &str| self.folder.join(format!("{}.{extension}", name.replace(':', "-")));
        let files = KeyFiles { certificate: file("crt"), key: file("key") };
        write(&files.certificate, &signed.pem())?;
        write(&files.key, &pair.serialize_pem())?;
        Ok(files)
    }
}

/// The key pair that service accounts' tokens are signed with.
///
/// # Errors
/// Where the folder can't be written to.
pub fn service_account_key(folder: &Path) -> Result<KeyFiles> {
    let pair = KeyPair::generate()?;
    let files = KeyFiles { certificate: folder.join("service-account.pub"), key: folder.join("service-account.key") };
    write(&files.certificate, &pair.public_key_pem())?;
    write(&files.key, &pair.serialize_pem())?;
    Ok(files)
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("{} can't be written", path.display()))
}
