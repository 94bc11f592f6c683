// A certificate authority made at run time and one server certificate signed by it: nothing secret
// is ever committed, and nothing expires while the project sleeps.
#pragma once

#include <memory>
#include <string>

struct ssl_ctx_st;

namespace cukit::test {

enum class CertificateKind { good, expired, wrong_host };

struct ServerTls {
  std::shared_ptr<ssl_ctx_st> context; ///< for accepted connections
  std::string authority;               ///< PEM
};

/// Good: for 127.0.0.1, ::1 and localhost. `old_protocol`: TLS 1.1 at most.
ServerTls make_server_tls(CertificateKind kind, bool old_protocol);

} // namespace cukit::test
