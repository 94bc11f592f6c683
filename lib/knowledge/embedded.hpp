// The files of recipes/ inside the binary; the table is generated (lib/CMakeLists.txt).
#pragma once

namespace cukit::knowledge {

struct EmbeddedFile {
  const char* path; ///< relative to recipes/, nullptr at the end of the table
  const char* begin;
  const char* end;
};

extern const EmbeddedFile k_embedded_files[];

} // namespace cukit::knowledge
