#include "support/power_loss.hpp"

#include "support/faulty_fs.h"

#include <cstring>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::test {

struct PowerLoss::Record {
  faulty_record head{};
  std::string first;
  std::string second;
};

namespace {

constexpr std::uint64_t k_journal_bytes = 1U << 30U;

[[noreturn]] void misfit(const std::string& what) {
  throw std::runtime_error("the journal does not fit: " + what);
}

template <typename T> T good(Result<T> result) {
  if (!result) {
    throw std::runtime_error(result.error().message);
  }
  return std::move(*result);
}

void good(const Result<void>& result) {
  if (!result) {
    throw std::runtime_error(result.error().message);
  }
}

struct stat look(const fs::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    misfit("cannot look at " + path.string());
  }
  return info;
}

} // namespace

PowerLoss::PowerLoss(fs::path root) : root_(std::move(root)) {
  scan(root_);
  now_ = before_;
}

PowerLoss::Node PowerLoss::scan(const fs::path& path) {
  const auto info = look(path);
  if (const auto known = inodes_.find(info.st_ino); known != inodes_.end()) {
    return known->second; // another name of the same file
  }
  const Node node = before_.size();
  inodes_[info.st_ino] = node;
  before_.emplace_back();
  before_[node].mode = info.st_mode & 07777U;
  if (S_ISDIR(info.st_mode)) {
    before_[node].kind = 'd';
    for (const auto& name : good(list_directory(path))) {
      const Node child = scan(path / name);
      before_[node].names[name] = child;
    }
  } else if (S_ISLNK(info.st_mode)) {
    before_[node].kind = 'l';
    before_[node].content = fs::read_symlink(path).string();
  } else {
    before_[node].content = good(read_file(path, k_journal_bytes));
  }
  return node;
}

PowerLoss::Name PowerLoss::resolve(const std::vector<File>& files, const std::string& path) const {
  const auto relative = fs::path(path).lexically_relative(root_);
  Name result;
  for (auto part = relative.begin(); part != relative.end(); ++part) {
    if (!result.name.empty()) {
      const auto& names = files[result.folder].names;
      const auto next = names.find(result.name);
      if (next == names.end()) {
        misfit("no folder of " + path);
      }
      result.folder = next->second;
    }
    result.name = part->string();
  }
  return result;
}

PowerLoss::Node PowerLoss::node_of_inode(std::uint64_t inode) const {
  const auto known = inodes_.find(inode);
  if (known == inodes_.end()) {
    misfit("an inode that nobody made");
  }
  return known->second;
}

PowerLoss::Node PowerLoss::new_node(char kind, unsigned mode, std::uint64_t inode,
                                    std::string content) {
  const Node node = now_.size();
  File file{kind, mode, std::move(content), {}};
  before_.push_back(file);
  now_.push_back(std::move(file));
  inodes_[inode] = node; // the number of a removed file may come again
  return node;
}

PowerLoss::Change PowerLoss::name_change_of(const Record& record) {
  const auto& head = record.head;
  Change change;
  change.to = resolve(now_, record.first);
  const auto existing = [&](const Name& name) {
    const auto found = now_[name.folder].names.find(name.name);
    if (found == now_[name.folder].names.end()) {
      misfit("no " + name.name);
    }
    return found->second;
  };
  switch (head.operation) {
  case faulty_create:
    change.node = new_node('f', head.mode, head.inode, "");
    break;
  case faulty_mkdir:
    change.node = new_node('d', head.mode, head.inode, "");
    break;
  case faulty_symlink:
    change.node = new_node('l', 0777, head.inode, record.second);
    break;
  case faulty_link:
    change.node = existing(resolve(now_, record.second));
    break;
  case faulty_rename:
    change.what = What::move;
    change.from = change.to;
    change.to = resolve(now_, record.second);
    change.node = existing(change.from);
    break;
  default: // unlink, rmdir
    change.what = What::remove;
    change.node = existing(change.to);
    break;
  }
  return change;
}

PowerLoss::Change PowerLoss::change_of(const Record& record) {
  const auto& head = record.head;
  const auto of_inode = [&](What what, std::uint64_t number, std::string bytes = {}) {
    return Change{what, node_of_inode(head.inode), {}, {}, number, std::move(bytes)};
  };
  switch (head.operation) {
  case faulty_write:
    return of_inode(What::write, head.offset, record.first);
  case faulty_truncate:
    return of_inode(What::truncate, head.offset);
  case faulty_chmod:
    return of_inode(What::chmod, head.mode);
  case faulty_fsync:
    return of_inode(What::sync, 0);
  case faulty_syncfs:
    return Change{What::sync_all};
  default:
    return name_change_of(record);
  }
}

void PowerLoss::read_journal(const fs::path& file) {
  const auto bytes = good(read_file(file, k_journal_bytes));
  std::string_view rest = bytes;
  const auto take = [&](std::size_t size) {
    if (rest.size() < size) {
      misfit("it ends early");
    }
    const auto piece = rest.substr(0, size);
    rest.remove_prefix(size);
    return piece;
  };
  while (!rest.empty()) {
    Record record;
    std::memcpy(&record.head, take(sizeof record.head).data(), sizeof record.head);
    record.first = take(record.head.first_size);
    record.second = take(record.head.second_size);
    changes_.push_back(change_of(record));
    apply(now_, changes_.back());
  }
}

void PowerLoss::apply(std::vector<File>& files, const Change& change) {
  auto& content = files[change.node].content;
  const auto leave = [&](const Name& name) {
    auto& names = files[name.folder].names;
    if (const auto found = names.find(name.name);
        found != names.end() && found->second == change.node) {
      names.erase(found);
    }
  };
  switch (change.what) {
  case What::add:
    files[change.to.folder].names[change.to.name] = change.node;
    break;
  case What::remove:
    leave(change.to);
    break;
  case What::move:
    leave(change.from);
    files[change.to.folder].names[change.to.name] = change.node;
    break;
  case What::write:
    content.resize(std::max<std::size_t>(content.size(), change.offset + change.bytes.size()));
    content.replace(change.offset, change.bytes.size(), change.bytes);
    break;
  case What::truncate:
    content.resize(change.offset);
    break;
  case What::chmod:
    files[change.node].mode = static_cast<unsigned>(change.offset);
    break;
  case What::sync:
  case What::sync_all:
    break;
  }
}

std::set<std::size_t> PowerLoss::safe_before(std::size_t cut) const {
  std::set<std::size_t> safe;
  std::set<Node> synced; // later than the change that is looked at
  bool all = false;
  for (std::size_t i = cut; i-- > 0;) {
    const auto& change = changes_[i];
    const bool is_name =
        change.what == What::add || change.what == What::remove || change.what == What::move;
    if (change.what == What::sync_all) {
      all = true;
    } else if (change.what == What::sync) {
      synced.insert(change.node);
    } else if (all || (!is_name && synced.contains(change.node)) ||
               (is_name && synced.contains(change.to.folder)) ||
               (change.what == What::move && synced.contains(change.from.folder))) {
      safe.insert(i);
    }
  }
  return safe;
}

void PowerLoss::rebuild(std::size_t cut, Kept kept, unsigned seed) const {
  std::mt19937 engine(seed);
  const auto safe = safe_before(cut);
  const std::size_t reached = cut == 0 ? 0 : engine() % cut;
  auto files = before_;
  for (std::size_t i = 0; i < cut; ++i) {
    const auto what = changes_[i].what;
    const bool is_content = what == What::write || what == What::truncate;
    const bool lucky = (kept == Kept::everything) || (kept == Kept::names && !is_content) ||
                       (kept == Kept::in_order && i <= reached) ||
                       (kept == Kept::random && engine() % 2 == 0);
    if (lucky || safe.contains(i)) {
      apply(files, changes_[i]);
    }
  }
  for (const auto& name : good(list_directory(root_))) {
    good(remove_tree(root_ / name));
  }
  std::map<Node, fs::path> written;
  for (const auto& [name, node] : files[0].names) {
    write_out(files, node, root_ / name, written);
  }
}

void PowerLoss::write_out(const std::vector<File>& files, Node node, const fs::path& path,
                          std::map<Node, fs::path>& written) const {
  const auto& file = files[node];
  if (file.kind == 'd') {
    good(make_directories(path));
    for (const auto& [name, child] : file.names) {
      write_out(files, child, path / name, written);
    }
    if (::chmod(path.c_str(), file.mode) != 0) {
      misfit("cannot set the mode of " + path.string());
    }
    return;
  }
  if (file.kind == 'l') {
    fs::create_symlink(file.content, path);
  } else if (const auto other = written.find(node); other != written.end()) {
    fs::create_hard_link(other->second, path);
  } else {
    good(create_file(path, file.content, file.mode));
    written[node] = path;
  }
}

} // namespace cukit::test
