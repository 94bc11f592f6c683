#include "store/replace.hpp"

#include "base/temporary.hpp"
#include "store/hold.hpp"

namespace cukit::store {

Result<void> put_in_place(const fs::path& fresh, const fs::path& standing) {
  CUKIT_TRY(allow_move(standing));
  CUKIT_TRY_ASSIGN(const bool exchanged, try_exchange(fresh, standing));
  if (exchanged) {
    return {};
  }
  CUKIT_TRY(move_out(standing, fs::path(fresh.string() + ".aside")));
  return rename_path(fresh, standing);
}

} // namespace cukit::store
