// libcurl, loaded when the first transfer or URL asks for it. It brings thirty libraries with it
// (TLS, Kerberos, LDAP, SSH), and to load them takes longer than all that a run with nothing to do
// does; most commands never come here.
#pragma once

#include "base/result.hpp"

#include <curl/curl.h>

namespace cukit::http {

/// Its functions under their own names, without the prefix.
struct Libcurl {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_version_info) version_info;
  decltype(&::curl_free) free;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;

  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_strerror) easy_strerror;

  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_multi_setopt) multi_setopt;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_perform) multi_perform;
  decltype(&::curl_multi_poll) multi_poll;
  decltype(&::curl_multi_wakeup) multi_wakeup;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_multi_strerror) multi_strerror;

  decltype(&::curl_url) url;
  decltype(&::curl_url_cleanup) url_cleanup;
  decltype(&::curl_url_get) url_get;
  decltype(&::curl_url_set) url_set;
};

/// Loads it once and for the life of the process; from any thread. An error (code host) says what
/// is missing.
Result<const Libcurl*> load_libcurl();

/// The same for those who come after a load that went well.
const Libcurl& libcurl();

} // namespace cukit::http
