// The adapter of nlohmann-json. Its document type is not used: it keeps the last of two equal keys,
// has no limit of depth and makes integers that do not fit into floats silently. The SAX interface
// shows each value once.
#include "text/json.hpp"

#include "base/limits.hpp"
#include "base/strings.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <set>

namespace cukit::text {

namespace {

constexpr auto k_int64_max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

/// `line 3, column 7`
std::string spot(std::string_view bytes, std::size_t offset) {
  const auto before = bytes.substr(0, std::min(offset, bytes.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const auto start = before.rfind('\n');
  return fmt::format("line {}, column {}", lines + 1,
                     start == std::string_view::npos ? before.size() + 1 : before.size() - start);
}

/// Receives the parser's events. Every function returns whether parsing goes on, as nlohmann's
/// interface wants it.
class Reader {
public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool null() { return take(Json()); }
  bool boolean(bool value) { return take(Json(value)); }
  bool number_integer(std::int64_t value) { return take(Json(value)); }
  bool number_unsigned(std::uint64_t value) { return take(Json(value)); }
  bool number_float(double value, const std::string& /*text*/) { return take(Json(value)); }
  bool string(std::string& value) { return take(Json(std::move(value))); }
  bool binary(nlohmann::json::binary_t& /*value*/) { return refuse("binary values are not taken"); }
  bool start_object(std::size_t /*size*/) { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) { return open(Json::list()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    auto& level = levels_.back();
    if (!level.names.insert(name).second) {
      return refuse(
          fmt::format("key `{}` stands twice in one object", printable(name.substr(0, 100))));
    }
    level.key = std::move(name);
    return true;
  }
  bool parse_error(std::size_t offset, const std::string& /*token*/,
                   const nlohmann::json::exception& exception) {
    // "[json.exception...] parse error at line 1, column 2: syntax error ...": only the end is for
    // people; the place is said in our way.
    std::string_view what = exception.what();
    for (const std::string_view end_of_prefix : {"] ", ", column "}) {
      const auto at = what.find(end_of_prefix);
      what = at == std::string_view::npos ? what : what.substr(at + end_of_prefix.size());
    }
    if (const auto colon = what.find(": "); colon != std::string_view::npos && colon < 12) {
      what = what.substr(colon + 2);
    }
    return refuse(fmt::format("{} (at {})", printable(what.substr(0, 300)),
                              spot(bytes_, offset == 0 ? 0 : offset - 1)));
  }

  Json take_root() { return std::move(root_); }
  std::string take_complaint() { return std::move(complaint_); }

private:
  struct Level {
    Json value;
    std::string key;
    std::set<std::string, std::less<>> names;
  };

  bool refuse(std::string why) {
    complaint_ = std::move(why);
    return false;
  }
  bool open(Json value) {
    if (levels_.size() >= static_cast<std::size_t>(limits::k_json_depth)) {
      return refuse(fmt::format("more than {} levels inside each other", limits::k_json_depth));
    }
    levels_.push_back({.value = std::move(value), .key = {}, .names = {}});
    return true;
  }
  bool close() {
    Json value = std::move(levels_.back().value);
    levels_.pop_back();
    return take(std::move(value));
  }
  bool take(Json value) {
    if (levels_.empty()) {
      root_ = std::move(value);
    } else if (auto& level = levels_.back(); level.value.is(Json::Kind::list)) {
      level.value.add(std::move(value));
    } else {
      level.value.set(std::move(level.key), std::move(value));
    }
    return true;
  }

  std::string_view bytes_;
  std::vector<Level> levels_;
  Json root_;
  std::string complaint_;
};

} // namespace

Json Json::list(const std::vector<std::string>& texts) {
  auto result = list();
  for (const auto& text : texts) {
    result.add(text);
  }
  return result;
}

Json::Json(std::uint64_t value)
    : kind_(value <= k_int64_max ? Kind::integer : Kind::real),
      integer_(value <= k_int64_max ? static_cast<std::int64_t>(value) : 0),
      real_(static_cast<double>(value)) {}

Result<Json> Json::parse(std::string_view bytes, const std::string& name) {
  const auto refused = [&](std::string why) {
    return tl::unexpected<Error>(Error{
        .code = ErrorCode::source, .message = "not valid JSON: " + std::move(why), .where = name});
  };
  if (const auto offset = first_invalid_utf8(bytes); offset != std::string_view::npos) {
    return refused(fmt::format("not UTF-8 at offset {}", offset));
  }
  // The parser takes NUL for the end of the text.
  if (const auto offset = bytes.find('\0'); offset != std::string_view::npos) {
    return refused(fmt::format("NUL at offset {}", offset));
  }
  try {
    Reader reader(bytes);
    if (!nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &reader)) {
      return refused(reader.take_complaint());
    }
    return reader.take_root();
  } catch (const std::exception& exception) {
    return refused(printable(exception.what()));
  }
}

const Json* Json::find(std::string_view key) const {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [&](const auto& member) { return member.first == key; });
  return found == members_.end() ? nullptr : &found->second;
}

std::string_view Json::text_of(std::string_view key) const {
  const auto* value = find(key);
  return value != nullptr && value->is(Kind::string) ? std::string_view(value->text_)
                                                     : std::string_view();
}

Json& Json::set(std::string key, Json value) {
  members_.emplace_back(std::move(key), std::move(value));
  return *this;
}

Json& Json::add(Json value) {
  items_.push_back(std::move(value));
  return *this;
}

} // namespace cukit::text
