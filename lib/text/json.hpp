// JSON both ways. Reading refuses duplicate keys, more depth than limits::k_json_depth, invalid
// UTF-8 and anything after the document; integers stay exact. Writing keeps the order of insertion
// and is byte-stable.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cukit::text {

class Json {
public:
  enum class Kind { null, boolean, integer, real, string, list, object };

  Json() = default;
  Json(bool value) : kind_(Kind::boolean), integer_(value ? 1 : 0) {}
  Json(int value) : kind_(Kind::integer), integer_(value) {}
  Json(std::int64_t value) : kind_(Kind::integer), integer_(value) {}
  Json(std::uint64_t value);
  Json(double value) : kind_(Kind::real), real_(value) {}
  Json(std::string value) : kind_(Kind::string), text_(std::move(value)) {}
  Json(std::string_view value) : Json(std::string(value)) {}
  Json(const char* value) : Json(std::string(value)) {}
  static Json list() { return of(Kind::list); }
  static Json list(const std::vector<std::string>& texts);
  static Json object() { return of(Kind::object); }

  static Result<Json> parse(std::string_view bytes, const std::string& name);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is(Kind kind) const { return kind_ == kind; }
  [[nodiscard]] bool boolean() const { return integer_ != 0; }
  [[nodiscard]] std::int64_t integer() const {
    return integer_;
  } ///< numbers outside int64 are kind real
  [[nodiscard]] double real() const {
    return kind_ == Kind::integer ? static_cast<double>(integer_) : real_;
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::vector<Json>& items() const { return items_; }
  [[nodiscard]] const std::vector<std::pair<std::string, Json>>& members() const {
    return members_;
  }
  /// The member `key` of an object, or nullptr (also when this is no object).
  [[nodiscard]] const Json* find(std::string_view key) const;
  /// The text of a string member, or empty.
  [[nodiscard]] std::string_view text_of(std::string_view key) const;

  Json& set(std::string key, Json value); ///< appends a member; returns *this
  Json& add(Json value);                  ///< appends an item; returns *this

  /// Two spaces per level when `pretty`; control characters escaped, invalid UTF-8 replaced; no
  /// trailing newline.
  [[nodiscard]] std::string dump(bool pretty = true) const;

private:
  static Json of(Kind kind) {
    Json json;
    json.kind_ = kind;
    return json;
  }
  Kind kind_ = Kind::null;
  std::int64_t integer_ = 0;
  double real_ = 0;
  std::string text_;
  std::vector<Json> items_;
  std::vector<std::pair<std::string, Json>> members_;
};

} // namespace cukit::text
