// cukit among the programs of a shell: pipes, signals, full disks, working folders that are gone.
#include "base/strings.hpp"
#include "store_fixture.hpp"

#include <csignal>
#include <fstream>
#include <sys/resource.h>
#include <thread>

namespace cukit::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Shell : public StoreRun {
protected:
  /// A script in the playground, in which `cukit` is the program under test.
  [[nodiscard]] Finished sh(const std::string& script) const {
    Command command;
    command.arguments = {"/bin/bash", "-c", "cukit() { " CUKIT_BINARY " \"$@\"; }\n" + script};
    command.environment = playground.environment;
    command.directory = playground.path().string();
    command.time_limit = std::chrono::minutes(2);
    auto finished = run_command(command);
    EXPECT_TRUE(finished);
    return finished ? *std::move(finished) : Finished{};
  }
  /// No byte that a terminal obeys but line ends and tabs; else where it stands.
  static std::string raw_control(const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
      if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f ||
          (byte == 0xc2 && next < 0xa0) || text.compare(i, 3, "\u202e") == 0) {
        return text.substr(i > 20 ? i - 20 : 0, 40);
      }
    }
    return {};
  }
};

TEST_F(Shell, a_full_standard_output_is_never_a_success) {
  up("demo");
  for (const auto* command : {"--version",
                              "--help",
                              "list",
                              "list --json",
                              "env demo",
                              "lock demo.yaml",
                              "lock --json demo.yaml",
                              "lock --explain demo.yaml",
                              "snapshot",
                              "bundle demo.yaml -o b.tar",
                              "sbom demo",
                              "licences demo",
                              "export tar demo.tar demo",
                              "export cmake made demo",
                              "mirror demo.yaml mirrored",
                              "releases",
                              "gpus",
                              "matrix",
                              "doctor --rules",
                              "why nvcc",
                              "diff demo.yaml demo.yaml",
                              "verify",
                              "du",
                              "gc --dry-run",
                              "up --no-validate demo.yaml",
                              "up --dry-run demo.yaml",
                              "fetch demo.yaml",
                              "build demo.yaml",
                              "init -o -",
                              "switch demo --to 1",
                              "help lock"}) {
    const auto done = sh(fmt::format("cukit {} > /dev/full", command));
    EXPECT_EQ(done.exit_code, 6) << command << ": " << done.errors;
    EXPECT_THAT(done.errors, HasSubstr("cannot write to standard output")) << command;
  }
}

TEST_F(Shell, a_standard_output_that_is_closed_is_said_and_no_file_takes_its_place) {
  playground.write("demo.yaml", manifest_of("demo", "13.0.188"));
  const auto done = sh("cukit up --no-validate demo.yaml 0<&- >&- 2>&-; echo code $?");
  EXPECT_EQ(done.output, "code 6\n");
  EXPECT_EQ(sh("cukit verify").exit_code, 0);
  EXPECT_THAT(read_file(playground.path() / "demo.lock.yaml", 1U << 20U).value_or(""),
              StartsWith("cukit-lock"));
}

TEST_F(Shell, a_reader_that_has_enough_ends_it_quietly) {
  up("demo");
  for (const auto* command : {"doctor --rules", "releases", "gpus", "--help", "list", "env demo",
                              "-q lock --explain demo.yaml", "matrix", "snapshot"}) {
    const auto done = sh(fmt::format(
        "set -o pipefail; cukit {} | head -c 1 > /dev/null; echo ${{PIPESTATUS[0]}}", command));
    EXPECT_EQ(done.output, "0\n") << command;
    EXPECT_THAT(done.errors, IsEmpty()) << command;
  }
}

TEST_F(Shell, a_signal_that_the_caller_ignores_stays_ignored) {
  const auto path = index.page_path("nvidia-nvvm");
  for (const auto& [number, name] :
       {std::pair(SIGINT, "INT"), std::pair(SIGHUP, "HUP"), std::pair(SIGTERM, "TERM")}) {
    const auto manifest = playground.write("demo.yaml", manifest_of("demo", "13.0.188"));
    ASSERT_TRUE(remove_tree(playground.home()));
    ASSERT_TRUE(remove_tree(playground.path() / "demo.lock.yaml"));
    const auto done = sh(fmt::format("trap '' {0}; " CUKIT_BINARY
                                     " up --no-validate demo.yaml >/dev/null 2>err & pid=$!\n"
                                     "for i in 1 2 3 4 5 6 7 8; do kill -{0} $pid 2>/dev/null; "
                                     "sleep 0.05; done; wait $pid; echo $?",
                                     name));
    EXPECT_EQ(done.output, "0\n") << name
                                  << read_file(playground.path() / "err", 1U << 16U).value_or("");
  }
}

TEST_F(Shell, a_program_that_is_run_gets_the_callers_signals) {
  up("demo");
  const auto status = "cukit run demo -- grep -E '^Sig(Blk|Ign)' /proc/self/status";
  const auto bare = "grep -E '^Sig(Blk|Ign)' /proc/self/status";
  for (const auto* before : {"true", "trap '' PIPE", "trap '' INT HUP", "trap '' XFSZ USR1"}) {
    EXPECT_EQ(sh(fmt::format("{}; {}", before, status)).output,
              sh(fmt::format("{}; {}", before, bare)).output)
        << before;
  }
}

TEST_F(Shell, children_are_waited_for_where_the_caller_ignores_their_ends) {
  // An ignored SIGCHLD would make every compilation look like a success.
  const auto code =
      sh("trap '' CHLD; exec python3 -c 'import signal, os; signal.signal(signal.SIGCHLD, "
         "signal.SIG_IGN); os.execv(\"" CUKIT_BINARY
         "\", [\"cukit\", \"doctor\", \"--watch\", \"sh\", \"-c\", \"exit 7\"])'");
  if (code.exit_code == 127) {
    GTEST_SKIP() << "there is no python3 to set the disposition";
  }
  EXPECT_EQ(code.exit_code, 1) << code.errors;
}

TEST_F(Shell, the_limit_of_a_files_size_is_an_error_and_no_crash) {
  playground.write("demo.yaml", manifest_of("demo", "13.0.188"));
  for (const auto* command : {"up --no-validate demo.yaml", "bundle demo.yaml -o b.tar"}) {
    const auto done = sh(fmt::format("ulimit -c 0; ulimit -f 8; cukit {}", command));
    EXPECT_EQ(done.exit_code, 6) << command << done.errors;
    EXPECT_THAT(done.errors, HasSubstr("File too large")) << command;
    EXPECT_THAT(done.errors, HasSubstr("ulimit -f")) << command;
  }
  EXPECT_EQ(sh("cukit up --no-validate demo.yaml").exit_code, 0);
}

TEST_F(Shell, a_working_folder_that_was_deleted_is_named) {
  up("demo");
  for (const auto* command :
       {"up --no-validate demo.yaml", "up --no-validate --prefix p demo.yaml", "why ./bin/nvcc",
        "mirror demo.yaml m", "bundle demo.yaml -o b.tar", "validate --run kernels",
        "lock demo.yaml", "init", "init -o - --venv v", "verify ./x", "doctor --root r",
        "env ./demo.yaml", "validate demo --build-only --out o --gpu sm_90"}) {
    const auto done = sh(fmt::format("mkdir gone; cd gone; rmdir ../gone; cukit {}", command));
    EXPECT_THAT(done.exit_code, AnyOf(2, 6)) << command << ": " << done.output << done.errors;
    EXPECT_THAT(done.errors, StartsWith("error: ")) << command;
    EXPECT_THAT(done.errors, Not(HasSubstr("internal"))) << command;
  }
  for (const auto* command : {"list", "env demo", "verify", "gc", "du", "releases"}) {
    EXPECT_EQ(sh(fmt::format("mkdir gone; cd gone; rmdir ../gone; cukit {}", command)).exit_code, 0)
        << command;
  }
  const auto relative = sh("mkdir gone; cd gone; rmdir ../gone; CUKIT_HOME=home cukit list");
  EXPECT_EQ(relative.exit_code, 6);
  EXPECT_THAT(relative.errors, HasSubstr("the working folder is gone"));
}

TEST_F(Shell, a_link_that_a_person_made_stays_and_what_it_leads_to_is_written) {
  const auto read = [&](const std::string& name) {
    return read_file(playground.path() / name, 1U << 20U).value_or("");
  };
  ASSERT_EQ(sh("mkdir locks dots; ln -s locks/a.yaml demo.lock.yaml; ln -s ../dots/m.yaml "
               "locks/to.yaml; ln -s locks/to.yaml cukit.yaml; echo old > real.tar; chmod 600 "
               "real.tar; ln -s real.tar b.tar")
                .exit_code,
            0);
  up("demo"); // the link led to nothing yet
  EXPECT_TRUE(fs::is_symlink(playground.path() / "demo.lock.yaml"));
  EXPECT_THAT(read("locks/a.yaml"), StartsWith("cukit-lock"));
  ASSERT_EQ(sh("chmod 664 locks/a.yaml; cukit lock --upgrade demo.yaml; echo '# x' >> "
               "locks/a.yaml; cukit lock demo.yaml")
                .exit_code,
            0);
  EXPECT_TRUE(fs::is_symlink(playground.path() / "demo.lock.yaml"));
  EXPECT_EQ(sh("stat -c %a locks/a.yaml").output, "664\n");
  const auto made = sh("cukit init --force --gpu sm_90");
  EXPECT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_TRUE(fs::is_symlink(playground.path() / "cukit.yaml"));
  EXPECT_TRUE(fs::is_symlink(playground.path() / "locks/to.yaml"));
  EXPECT_THAT(read("dots/m.yaml"), HasSubstr("cukit: 1"));
  const auto bundled = sh("cukit bundle demo.yaml -o b.tar");
  EXPECT_EQ(bundled.exit_code, 0) << bundled.errors;
  EXPECT_TRUE(fs::is_symlink(playground.path() / "b.tar"));
  EXPECT_GT(read("real.tar").size(), 1000U);
}

TEST_F(Shell, what_cannot_be_replaced_is_not) {
  playground.write("demo.yaml", manifest_of("demo", "13.0.188"));
  const auto device = sh("mkfifo pipe; cukit bundle demo.yaml -o pipe");
  EXPECT_EQ(device.exit_code, 2);
  EXPECT_THAT(device.errors, HasSubstr("not a regular file"));
  EXPECT_TRUE(fs::is_fifo(playground.path() / "pipe"));
}

TEST_F(Shell, a_name_that_is_empty_or_no_text_is_refused) {
  playground.write("demo.yaml", manifest_of("demo", "13.0.188"));
  for (const auto* command :
       {"bundle demo.yaml -o ''", "init -o ''", "up --prefix '' demo.yaml", "mirror demo.yaml ''",
        "env ''", "up ''", "lock --exclude-newer '' demo.yaml", "up --prefix= demo.yaml",
        "validate --build-only --out ''", "doctor --log ''"}) {
    const auto done = sh(fmt::format("cukit {}", command));
    EXPECT_EQ(done.exit_code, 2) << command << done.output << done.errors;
    EXPECT_THAT(done.errors, AnyOf(HasSubstr("empty"), HasSubstr("required"))) << command;
  }
  for (const auto* command : {"bundle demo.yaml -o $'b\\xff.tar'", "init -o $'i\\xff.yaml'",
                              "up --prefix $'p\\xff' demo.yaml", "mirror demo.yaml $'m\\xff'",
                              "validate --build-only --out $'o\\xff'"}) {
    const auto done = sh(fmt::format("cukit {}", command));
    EXPECT_EQ(done.exit_code, 2) << command << done.errors;
    EXPECT_THAT(done.errors, HasSubstr("UTF-8")) << command;
    EXPECT_THAT(raw_control(done.errors), IsEmpty());
  }
  EXPECT_FALSE(folder_exists(playground.home()));
}

TEST_F(Shell, an_empty_lock_is_made_anew) {
  const auto manifest = playground.write("demo.yaml", manifest_of("demo", "13.0.188"));
  playground.write("demo.lock.yaml", "");
  EXPECT_EQ(sh("cukit lock --check demo.yaml").exit_code, 1);
  EXPECT_EQ(sh("cukit up --frozen --no-validate demo.yaml").exit_code, 1);
  const auto done = sh("cukit lock demo.yaml");
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_EQ(sh("cukit lock --check demo.yaml").exit_code, 0);
}

TEST_F(Shell, a_home_whose_path_no_variable_can_hold_is_refused) {
  playground.write("demo.yaml", manifest_of("demo", "13.0.188"));
  const auto done = sh("export CUKIT_HOME=$PWD/a:b; cukit up --no-validate demo.yaml");
  EXPECT_EQ(done.exit_code, 2) << done.output;
  EXPECT_THAT(done.errors, HasSubstr("colon"));
  EXPECT_EQ(sh("export CUKIT_HOME=$PWD/a:b; cukit list").exit_code, 0);
  // A line end can be quoted in a shell, but not where each line is a variable.
  const auto in_line = sh("export CUKIT_HOME=$PWD/$'a\\nb'; cukit up --no-validate demo.yaml "
                          ">/dev/null && cukit env demo --shell plain");
  EXPECT_EQ(in_line.exit_code, 2) << in_line.output;
  EXPECT_THAT(in_line.errors, HasSubstr("line end"));
  EXPECT_EQ(sh("cukit up --no-validate --prefix $PWD/p:q demo.yaml").exit_code, 2);
  // One that was made elsewhere and moved there.
  ASSERT_EQ(sh("cukit up --no-validate --prefix p demo.yaml && mv p p:q").exit_code, 0);
  for (const auto* command : {"env ./p:q", "env --json ./p:q"}) {
    const auto moved = sh(fmt::format("cukit {}", command));
    EXPECT_EQ(moved.exit_code, 2) << moved.output;
  }
  EXPECT_EQ(sh("cukit run ./p:q -- true").exit_code, 125);
}

TEST_F(Shell, a_home_from_which_no_program_may_run_is_named) {
  if (sh("unshare -m mount -t tmpfs -o noexec none .").exit_code != 0) {
    GTEST_SKIP() << "nothing can be mounted here";
  }
  playground.write("demo.yaml", manifest_of("demo", "13.0.188"));
  const auto done =
      sh("mkdir -p home; unshare -m bash -c 'mount -t tmpfs -o noexec none home; " CUKIT_BINARY
         " up --no-validate demo.yaml >/dev/null && " CUKIT_BINARY
         " run demo -- nvcc --version; echo $?; " CUKIT_BINARY " validate demo; echo $?'");
  EXPECT_EQ(done.output, "126\n6\n") << done.errors;
  EXPECT_THAT(done.errors, HasSubstr("mounted noexec"));
  EXPECT_THAT(done.errors.substr(done.errors.rfind("error:")), HasSubstr("mounted noexec"));
}

TEST_F(Shell, a_login_is_in_no_message) {
  playground.write("demo.yaml", manifest_of("demo", "13.0.188"));
  for (const auto* login : {"kuser:qzx?jvw", "kuser:qzx#jvw", "kuser:qzx/jvw", "kuser:qzx@jvw?x"}) {
    const auto url = fmt::format("https://{}@127.0.0.1:9/simple", login);
    for (const auto& command :
         {fmt::format("lock --index-url '{}' demo.yaml", url),
          fmt::format("lock --json --index-url '{}' demo.yaml", url),
          fmt::format("up --mirror '{}' demo.yaml", url),
          fmt::format("lock --redist-url '{}' demo.yaml", url), fmt::format("lock '{}'", url),
          fmt::format("list '{}'", url), fmt::format("lock --indx-url '{}' demo.yaml", url),
          fmt::format("why '{}'", url), fmt::format("env '{}'", url), fmt::format("'{}'", url),
          fmt::format("doctor --root '{}'", url)}) {
      const auto done = sh("cukit " + command);
      EXPECT_THAT(done.output + done.errors,
                  Not(AnyOf(HasSubstr("qzx"), HasSubstr("jvw"), HasSubstr("kuser"))))
          << command;
    }
    const auto proxied = sh(fmt::format("export https_proxy='http://{0}@127.0.0.1:9'; cukit lock "
                                        "--index-url https://localhost:9/simple demo.yaml",
                                        login));
    EXPECT_THAT(proxied.output + proxied.errors,
                Not(AnyOf(HasSubstr("qzx"), HasSubstr("jvw"), HasSubstr("kuser"))));
  }
}

TEST_F(Shell, escape_sequences_of_others_never_reach_the_terminal) {
  up("demo");
  const std::string evil = "\x1b]0;x\x07\x1b[31m\u009b2J\u202e\xff";
  const auto tree_file = playground.home() / "names/demo/gen/1/tree";
  const auto good = read_file(tree_file, 1000).value_or("");
  const auto expect_clean = [&](const std::string& command) {
    for (const auto* mode : {"", "--json ", "--color always "}) {
      const auto done = sh("cukit " + std::string(mode) + command);
      auto text = done.output + done.errors;
      if (std::string(mode) == "--color always ") { // its own colours alone
        for (const auto* own :
             {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[31;1m", "\x1b[33m", "\x1b[36m"}) {
          for (auto at = text.find(own); at != std::string::npos; at = text.find(own)) {
            text.erase(at, std::string(own).size());
          }
        }
      }
      EXPECT_THAT(raw_control(text), IsEmpty()) << mode << command << "\n" << printable(text);
      EXPECT_TRUE(is_utf8(text)) << command;
    }
  };
  fs::permissions(tree_file.parent_path(), fs::perms::owner_all);
  ASSERT_TRUE(remove_tree(tree_file));
  std::ofstream(tree_file) << evil << "\n";
  for (const auto* command : {"list", "du", "verify", "env demo", "gc --dry-run", "why nvcc",
                              "switch demo --to 1", "diff demo demo"}) {
    expect_clean(command);
  }
  std::ofstream(tree_file) << good;
  // Names of files that others made.
  const auto bin = tree("demo") / "bin";
  fs::permissions(bin, fs::perms::owner_all);
  std::ofstream(bin / (evil + "extra")) << "x";
  fs::create_directories(playground.home() / "trees" / evil);
  fs::create_directories(playground.home() / "names" / evil);
  std::ofstream(playground.path() / (evil + ".log")) << evil << " error: " << evil << "\n";
  const auto quoted = "'" + evil + "'";
  for (const auto& command : {std::string("verify"),
                              std::string("verify demo"),
                              std::string("list"),
                              std::string("du"),
                              std::string("gc --dry-run"),
                              "list " + quoted,
                              "env " + quoted,
                              "up " + quoted,
                              "why " + quoted,
                              "gpus " + quoted,
                              "releases " + quoted,
                              "doctor --explain " + quoted,
                              "doctor --log " + quoted + ".log",
                              "init -o - --log " + quoted + ".log",
                              quoted,
                              "--" + quoted,
                              "lock --upgrade=" + quoted + " demo.yaml",
                              "switch " + quoted,
                              "up --platform " + quoted + " demo.yaml",
                              "run " + quoted + " -- true",
                              "run demo -- " + quoted,
                              "mirror demo.yaml mirrored/" + quoted,
                              "bundle demo.yaml -o " + quoted}) {
    expect_clean(command);
  }
}

/// What keeps the tests of output true for commands that come later.
TEST(ShellSources, nothing_is_printed_but_in_one_place) {
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(CUKIT_SOURCE_DIR) / "cmd")) {
    const auto path = entry.path();
    if (path.extension() != ".cpp" || path.filename() == "output.cpp") {
      continue;
    }
    const auto text = read_file(path, 1U << 20U).value_or("");
    for (const auto* way : {"std::fputs", "std::printf", "fmt::print", "std::cout", "std::cerr",
                            "std::puts", "stdout,"}) {
      EXPECT_EQ(text.find(way), std::string::npos) << path << ": " << way;
    }
  }
}

TEST_F(Shell, words_that_people_try_are_answered) {
  const auto bare = sh("cukit");
  EXPECT_EQ(bare.exit_code, 2);
  EXPECT_THAT(bare.errors, AllOf(HasSubstr("up"), HasSubstr("doctor"), HasSubstr("Usage")));
  EXPECT_EQ(sh("cukit help").output, sh("cukit --help").output);
  EXPECT_EQ(sh("cukit help lock").output, sh("cukit lock --help").output);
  EXPECT_EQ(sh("cukit version").output, sh("cukit --version").output);
  EXPECT_THAT(sh("cukit version").output, StartsWith("cukit "));
  const auto misspelt = sh("cukit lokc demo.yaml");
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_THAT(misspelt.errors, AllOf(HasSubstr("`lokc`"), HasSubstr("`cukit lock`")));
  EXPECT_THAT(sh("cukit --color always helpp 2>&1").output, HasSubstr("cukit help"));
  const auto option = sh("cukit up --preifx x demo.yaml");
  EXPECT_EQ(option.exit_code, 2);
  EXPECT_THAT(option.errors, HasSubstr("did you mean `--prefix`?"));
  EXPECT_THAT(sh("cukit --json lokc").output, HasSubstr("cukit.error/1"));
}

TEST_F(Shell, everything_behind_the_toolkit_belongs_to_the_command) {
  up("demo");
  EXPECT_EQ(sh("cukit run demo printf '%s %s\\n' --version -q --json x").output,
            "--version -q\n--json x\n");
  EXPECT_EQ(sh("cukit run demo -- printf '%s\\n' --help").output, "--help\n");
  EXPECT_EQ(sh("cukit --color never run --no-lock demo echo -- x").output, "-- x\n");
  EXPECT_EQ(sh("cukit run --color never demo echo ''").output, "\n");
  EXPECT_EQ(sh("cukit run demo --version").exit_code, 127);
  EXPECT_EQ(sh("cukit run demo sh -c 'exit 3'").exit_code, 3);
}

} // namespace
} // namespace cukit::test
