// What is kept of a log while its lines go by. Private.
#pragma once

#include "buildlog/commands.hpp"
#include "buildlog/forms.hpp"
#include "buildlog/keywords.hpp"

#include <array>
#include <unordered_map>

namespace cukit::buildlog {

constexpr std::size_t k_text_bytes = 300; ///< kept of a text of the log

class Collector {
public:
  explicit Collector(std::vector<Phrase> phrases);
  void line(std::string_view raw, std::size_t number);
  Facts finish();

private:
  /// What a word that was found in a line asks for.
  enum class Role {
    form,
    phrase,
    trouble,
    errno_text,
    cuda,
    ending,
    success,
    command,
    version,
    target,
    isolated,
    cccl
  };
  struct Word {
    Role role;
    std::size_t index;
  };
  struct Kept { ///< of a failure, beside the failure
    int level = 0;
    bool is_weak = false;  ///< says what is missing, not that anything failed
    bool is_vague = false; ///< the next lines say more
  };
  struct Recent {
    std::size_t line = 0;
    std::string text;
  };
  struct Block { ///< the message of one CMake Error or CMake Warning
    bool is_open = false;
    bool is_error = false;
    bool is_flush = false; ///< `CMake Error: `, whose lines are not indented
    std::size_t line = 0;
    std::size_t indent = 0;
    std::string head;
    std::string text;
  };

  void register_words();
  bool take_block_line(std::string_view raw, std::string_view bare_line);
  bool open_block(std::string_view bare_line, std::size_t indent);
  void close_block();
  void take_held(std::string_view text, bool is_source);
  void look(std::string_view text, bool is_source);
  void take_failures(std::string_view text);
  void take_generic(const Head& head, std::string_view text);
  void take_phrases(std::string_view text);
  void take_ending(const Head& head, std::string_view text);
  void take_success(std::string_view text);
  void take_command(std::string_view text);
  bool take_failed_command(std::string_view text);
  void add(Failure failure, std::string_view text, Kept kept);
  void take_variables(std::string_view text);
  void supersede(int level);
  std::size_t keep_command(Command command, std::string_view text);
  std::size_t failing_command(const Failure& failure);
  [[nodiscard]] bool has(Role role) const;
  void keep_failure(Failure failure, const Head& head, std::string_view raw);
  [[nodiscard]] std::size_t first_failure() const;

  std::vector<Phrase> phrases_;
  Forms forms_;
  std::vector<std::string> words_;
  std::vector<Word> roles_;
  std::optional<Keywords> keywords_;
  std::vector<std::uint32_t> found_;
  std::array<bool, 12> is_there_{};

  Facts facts_;
  std::vector<Kept> kept_; ///< by failure
  std::vector<int> ending_levels_;
  std::unordered_map<std::string, std::size_t> known_failures_;
  std::unordered_map<std::string, std::size_t> known_commands_;
  std::unordered_map<std::string, std::size_t> known_phrases_;
  std::array<Recent, 48> recent_{};
  std::size_t recent_next_ = 0;
  Block block_;
  std::size_t number_ = 0;
  std::size_t frame_indent_ = SIZE_MAX; ///< of the line before, when it named a traceback's frame
  std::string frame_file_;              ///< of the latest frame
  std::string held_; ///< `RuntimeError:` or a panic's place, whose message is the next line
  bool is_after_failed_ = false; ///< the line before was ninja's FAILED:
  int last_word_level_ = -1;     ///< of a success that counts when nothing follows
  std::size_t failed_command_ = 0;
  std::string buffer_;
};

} // namespace cukit::buildlog
