#include "support/certificates.hpp"

#include "base/result.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <atomic>

namespace cukit::test {

namespace {

using Key = std::shared_ptr<EVP_PKEY>;
using Certificate = std::shared_ptr<X509>;

Key make_key() {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  CUKIT_ENSURE(key != nullptr, "OpenSSL makes no key");
  return {key, EVP_PKEY_free};
}

void extend(X509* certificate, X509* issuer, int id, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value);
  CUKIT_ENSURE(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1,
               "OpenSSL takes no extension");
  X509_EXTENSION_free(extension);
}

Certificate make_certificate(const std::string& name, EVP_PKEY* key, long serial,
                             long ends_in_seconds) {
  Certificate certificate(X509_new(), X509_free);
  CUKIT_ENSURE(certificate != nullptr, "OpenSSL makes no certificate");
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -2 * 86400);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), ends_in_seconds);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return certificate;
}

std::string pem(X509* certificate) {
  const std::shared_ptr<BIO> memory(BIO_new(BIO_s_mem()), BIO_free_all);
  CUKIT_ENSURE(PEM_write_bio_X509(memory.get(), certificate) == 1, "OpenSSL writes no PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

} // namespace

ServerTls make_server_tls(CertificateKind kind, bool old_protocol) {
  const Key root_key = make_key();
  // Two authorities of one name would be told apart by a broken signature alone, which no real ones
  // are.
  static std::atomic<int> count = 0;
  const std::string name = fmt::format("cukit test authority {}", ++count);
  const Certificate root = make_certificate(name, root_key.get(), 1, 86400);
  X509_set_issuer_name(root.get(), X509_get_subject_name(root.get()));
  extend(root.get(), root.get(), NID_basic_constraints, "critical,CA:TRUE");
  extend(root.get(), root.get(), NID_subject_key_identifier, "hash");
  CUKIT_ENSURE(X509_sign(root.get(), root_key.get(), EVP_sha256()) > 0, "OpenSSL signs nothing");

  const Key key = make_key();
  const long ends = kind == CertificateKind::expired ? -86400 : 86400;
  const Certificate leaf = make_certificate("cukit test server", key.get(), 2, ends);
  X509_set_issuer_name(leaf.get(), X509_get_subject_name(root.get()));
  const char* names = kind == CertificateKind::wrong_host ? "DNS:elsewhere.example.com"
                                                          : "IP:127.0.0.1,IP:::1,DNS:localhost";
  extend(leaf.get(), root.get(), NID_subject_alt_name, names);
  CUKIT_ENSURE(X509_sign(leaf.get(), root_key.get(), EVP_sha256()) > 0, "OpenSSL signs nothing");

  ServerTls tls{std::shared_ptr<SSL_CTX>(SSL_CTX_new(TLS_server_method()), SSL_CTX_free),
                pem(root.get())};
  SSL_CTX* context = tls.context.get();
  CUKIT_ENSURE(context != nullptr && SSL_CTX_use_certificate(context, leaf.get()) == 1 &&
                   SSL_CTX_use_PrivateKey(context, key.get()) == 1,
               "OpenSSL takes no certificate");
  if (old_protocol) {
    // Security level 0 alone lets OpenSSL 3 speak so old a version.
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context, TLS1_1_VERSION);
  }
  return tls;
}

} // namespace cukit::test
