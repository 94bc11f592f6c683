#include "model/shell_quote.hpp"

namespace cukit {

std::string single_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result + "'";
}

} // namespace cukit
