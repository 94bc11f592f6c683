// One function per part of the manifest. Each adds what is wrong to the mistakes of the file and
// reads on.
#pragma once

#include "manifest/manifest.hpp"
#include "text/fields.hpp"

namespace cukit::manifest {

struct Reading {
  const knowledge::Knowledge& knowledge;
  text::Mistakes& mistakes;
  fs::path folder; ///< of the manifest: what relative paths in it start from
  Manifest manifest;
};

void read_name(Reading& reading, text::Fields& fields);
/// Those that look something up: their error is one of the recipes, not of the manifest.
Result<void> read_gpus(Reading& reading, text::Fields& fields);
Result<void> read_pytorch(Reading& reading, text::Fields& fields);
void read_driver(Reading& reading, text::Fields& fields);
void read_toolkit(Reading& reading, text::Fields& fields);
Result<void> read_components(Reading& reading, text::Fields& fields);
Result<void> read_consumers(Reading& reading, text::Fields& fields);
void read_host(Reading& reading, text::Fields& fields);
void read_platforms(Reading& reading, text::Fields& fields);
void read_sources(Reading& reading, text::Fields& fields);
Result<void> read_validate(Reading& reading, text::Fields& fields);

/// Of everything that the choice of a toolkit depends on; the name and the validation do not count.
Sha256 digest_of(const Manifest& manifest);

} // namespace cukit::manifest
