// The forms in which tools say a failure: literal words with slots between them. Private.
#pragma once

#include "buildlog/buildlog.hpp"
#include "buildlog/head.hpp"

#include <optional>

namespace cukit::buildlog {

/// Where a form's first word has to stand.
enum class Where {
  text, ///< behind a diagnostic's head that says error, or names the program
  line  ///< anywhere
};

/// Slots: {n} name, {d} demand, {h} what is there, {f} file, {_} anything. Quotes are all '.
struct Form {
  const char* tool; ///< "" : the head's
  const char* pattern;
  Thing thing; ///< Thing::file: what its name looks like
  State state;
  Where where = Where::text;
};

/// Forms and what they are looked for by.
class Forms {
public:
  Forms();
  /// The longest word of each form that has no quotation mark in it.
  [[nodiscard]] const std::vector<std::string>& anchors() const { return anchors_; }
  /// The failure, when the line has the form of this number. `line` has plain quotes.
  [[nodiscard]] std::optional<Failure> match(std::size_t number, const Head& head,
                                             std::string_view line) const;

private:
  struct Piece {
    std::string word;
    char slot = 0; ///< before the word; 0: none
  };
  struct Ready {
    Form form;
    std::vector<Piece> pieces;
  };
  std::vector<Ready> ready_;
  std::vector<std::string> anchors_;
};

/// memmem: linear whatever the text.
std::size_t find_in(std::string_view text, std::string_view what, std::size_t from = 0);
/// Without quotes, spaces, brackets and full stops around.
std::string_view bare(std::string_view name);
/// What a name that a tool did not find looks like: -lfoo and libfoo.so a library, sm_90 a target,
/// x.h a header, others a file.
Thing shape_of(std::string_view name);
bool is_header(std::string_view name);
bool is_library(std::string_view name);

} // namespace cukit::buildlog
