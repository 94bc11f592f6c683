// RECORD of an installed distribution, as installers write it. Unlike the one inside of a wheel it
// may lead out of site-packages (`../../../bin/torchrun`), and names digests or not. Rows that
// cannot be read are passed over: a damaged RECORD must not hide the others.
#pragma once

#include "base/sha256.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cukit::venv {

struct RecordRow {
  std::string path; ///< as it stands there
  std::optional<Sha256> sha256 = {};
  std::optional<std::uint64_t> size = {};
};

/// Every row whose path `is_wanted` takes; what it gets may still have its quotes.
void for_each_row(std::string_view record,
                  const std::function<bool(std::string_view path)>& is_wanted,
                  const std::function<void(RecordRow row)>& use);

/// A row as pip writes it, with its line end; without a digest for RECORD itself.
std::string record_line(std::string_view path, const std::optional<Sha256>& sha256 = {},
                        std::uint64_t size = 0);

/// Whether a path of a row, followed from a folder of modules, leaves the environment: such a file
/// is never looked at, replaced or removed. Scripts (`../../../bin/torchrun`) do not.
bool leads_out(std::string_view path, std::string_view prefix);

} // namespace cukit::venv
