#include "buildlog/keywords.hpp"

#include <deque>
#include <map>

namespace cukit::buildlog {

namespace {

struct Node {
  std::map<std::uint8_t, std::uint32_t> children = {};
  std::uint32_t fallback = 0;
  std::vector<std::uint32_t> ends = {};
};

std::vector<Node> tree_of(const std::vector<std::string>& words) {
  std::vector<Node> nodes(1);
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    std::uint32_t at = 0;
    for (const char c : words[i]) {
      const auto byte = static_cast<std::uint8_t>(c);
      const auto [child, is_new] =
          nodes[at].children.try_emplace(byte, static_cast<std::uint32_t>(nodes.size()));
      at = child->second;
      if (is_new) {
        nodes.emplace_back();
      }
    }
    if (!words[i].empty()) {
      nodes[at].ends.push_back(i);
    }
  }
  return nodes;
}

} // namespace

Keywords::Keywords(const std::vector<std::string>& words) : seen_(words.size()) {
  for (const auto& word : words) {
    for (const char c : word) {
      auto& slot = classes_.at(static_cast<std::uint8_t>(c));
      slot = slot != 0 ? slot : static_cast<std::uint8_t>(class_count_++);
    }
  }
  build(words);
}

/// The automaton of Aho and Corasick, with every transition filled in.
void Keywords::build(const std::vector<std::string>& words) {
  auto nodes = tree_of(words);
  next_.assign(nodes.size() * class_count_, 0);
  std::deque<std::uint32_t> queue{0};
  while (!queue.empty()) {
    const auto at = queue.front();
    queue.pop_front();
    const auto fallback = nodes[at].fallback;
    if (at != 0) {
      const auto& more = nodes[fallback].ends;
      nodes[at].ends.insert(nodes[at].ends.end(), more.begin(), more.end());
      for (std::uint32_t c = 0; c < class_count_; ++c) {
        next_[at * class_count_ + c] = next_[fallback * class_count_ + c];
      }
    }
    for (const auto& [byte, child] : nodes[at].children) {
      const auto place = at * class_count_ + classes_.at(byte);
      nodes[child].fallback = at == 0 ? 0 : next_[place];
      next_[place] = child;
      queue.push_back(child);
    }
  }
  for (auto& target : next_) {
    target = (target * class_count_ << 1U) | (nodes[target].ends.empty() ? 0U : 1U);
  }
  ends_.reserve(nodes.size());
  for (auto& node : nodes) {
    ends_.push_back(std::move(node.ends));
  }
}

void Keywords::note(std::uint32_t state, std::vector<std::uint32_t>& found) {
  for (const auto word : ends_[state]) {
    if (seen_[word] != call_) {
      seen_[word] = call_;
      found.push_back(word);
    }
  }
}

void Keywords::find(std::string_view text, std::vector<std::uint32_t>& found) {
  ++call_;
  std::uint32_t row = 0;
  for (const char c : text) {
    const auto next = next_[row + classes_[static_cast<std::uint8_t>(c)]];
    row = next >> 1U;
    if ((next & 1U) != 0) [[unlikely]] {
      note(row / class_count_, found);
    }
  }
}

} // namespace cukit::buildlog
