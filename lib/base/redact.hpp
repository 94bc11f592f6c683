// Logins inside addresses. People write passwords with ?, # and / into URLs as they are; a parser
// then ends the host inside the password, and shows, asks or resolves a part of it.
#pragma once

#include <string_view>

namespace cukit {

/// Whether an address holds a login that does not stand where RFC 3986 has it: a part of it would
/// be taken for a host, a port or a path.
[[nodiscard]] bool has_loose_login(std::string_view address);
/// Whether it holds a login at all, wherever it stands, also where the scheme was forgotten.
[[nodiscard]] bool has_login(std::string_view address);

inline constexpr const char* k_loose_login_hint =
    "percent-encode user name and password: ? is %3F, # is %23, / is %2F, @ is %40, : is %3A";

} // namespace cukit
