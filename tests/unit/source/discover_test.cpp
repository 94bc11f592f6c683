#include "source/installed.hpp"
#include "source/source.hpp"

#include <gtest/gtest.h>

namespace cukit::source {
namespace {

constexpr const char* k_pip_help = R"(
Install Options:
  --extra-index-url <url>     Extra URLs of package indexes to use in addition
                              to --index-url. Should follow the same rules as
                              --index-url.
  -i, --index-url <url>       Base URL of the Python Package Index (default
                              https://index.example.com/simple). This should point to a
                              repository compliant with PEP 503
  --no-index                  Ignore package index (default https://wrong.example.com/)
)";

constexpr const char* k_uv_help = R"(
      --index <INDEX>
          The URLs to use when resolving, see `--default-index`. [env: UV_INDEX=]
      --default-index <DEFAULT_INDEX>
          The default package index (by default: <https://uv.example.com/simple>) [env:
          UV_DEFAULT_INDEX=]
  -i, --index-url <INDEX_URL>
          (Deprecated) The URL (by default: <https://old.example.com/simple>)
)";

class Discover : public testing::Test {
protected:
  void SetUp() override {
    auto folder = TempDirectory::create(fs::temp_directory_path(), "cukit-source");
    ASSERT_TRUE(folder);
    folder_.emplace(*std::move(folder));
    places_.root = folder_->path();
    places_.environment.set("HOME", "/home/user");
    places_.ask = [this](const std::vector<std::string>& arguments) -> Result<std::string> {
      asked_.push_back(arguments.front());
      return fail(ErrorCode::host, "not installed");
    };
  }

  void write(const std::string& path, std::string_view text) {
    const auto file = folder_->path() / path.substr(1);
    ASSERT_TRUE(make_directories(file.parent_path()));
    ASSERT_TRUE(create_file(file, text));
  }

  Sources found() {
    auto result = discover(places_);
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : Sources{};
  }

  std::string main_index() {
    const auto sources = found();
    return sources.indexes.empty() ? "" : sources.indexes.front().location;
  }

  std::optional<TempDirectory> folder_;
  Places places_;
  std::vector<std::string> asked_;
};

TEST_F(Discover, walks_down_the_documented_order) {
  places_.ask = [](const std::vector<std::string>& arguments) -> Result<std::string> {
    if (arguments.front() == "python3" && arguments[1] == "-m") {
      return std::string(k_pip_help);
    }
    return fail(ErrorCode::host, "not installed");
  };
  EXPECT_EQ(main_index(), "https://index.example.com/simple");
  write("/etc/pip.conf", "[global]\nindex-url = https://etc-pip.example.com\n");
  EXPECT_EQ(main_index(), "https://etc-pip.example.com");
  write("/home/user/.pip/pip.conf", "[global]\nindex-url = https://old-pip.example.com\n");
  EXPECT_EQ(main_index(), "https://old-pip.example.com");
  write("/home/user/.config/pip/pip.conf", "[global]\nindex-url = https://user-pip.example.com\n");
  EXPECT_EQ(main_index(), "https://user-pip.example.com");
  write("/etc/uv/uv.toml", "index-url = 'https://etc-uv.example.com'\n");
  EXPECT_EQ(main_index(), "https://etc-uv.example.com");
  write("/home/user/.config/uv/uv.toml",
        "[[index]]\nurl = 'https://user-uv.example.com'\ndefault = true\n");
  EXPECT_EQ(main_index(), "https://user-uv.example.com");
  places_.environment.set("PIP_INDEX_URL", "https://pip-variable.example.com/simple/");
  EXPECT_EQ(main_index(), "https://pip-variable.example.com/simple");
  places_.environment.set("UV_INDEX_URL", "https://uv-old.example.com");
  EXPECT_EQ(main_index(), "https://uv-old.example.com");
  places_.environment.set("UV_DEFAULT_INDEX", "corp=https://uv-variable.example.com");
  EXPECT_EQ(main_index(), "https://uv-variable.example.com");
  places_.environment.set("CUKIT_INDEX_URL", "https://own.example.com");
  EXPECT_EQ(main_index(), "https://own.example.com");
  places_.index_url = "https://option.example.com";
  EXPECT_EQ(main_index(), "https://option.example.com");
}

TEST_F(Discover, asks_programs_only_when_nothing_else_answered) {
  places_.environment.set("PIP_INDEX_URL", "https://mirror.example.com");
  EXPECT_EQ(main_index(), "https://mirror.example.com");
  EXPECT_TRUE(asked_.empty());
}

TEST_F(Discover, falls_back_to_nvidias_index_which_nobody_named) {
  const auto sources = found();
  ASSERT_EQ(sources.indexes.size(), 1U);
  EXPECT_EQ(sources.indexes[0].location, k_nvidia_index);
  EXPECT_FALSE(sources.indexes[0].named_by_user);
  EXPECT_FALSE(asked_.empty());
}

TEST_F(Discover, asks_uv_where_there_is_no_pip) {
  places_.ask = [](const std::vector<std::string>& arguments) -> Result<std::string> {
    if (arguments.front() == "uv") {
      return std::string(k_uv_help);
    }
    return fail(ErrorCode::host, "not installed");
  };
  const auto sources = found();
  EXPECT_EQ(sources.indexes.at(0).location, "https://uv.example.com/simple");
  EXPECT_EQ(sources.indexes.at(0).origin, "uv's default");
}

TEST_F(Discover, asks_pips_own_module_before_its_slow_help) {
  places_.ask = [this](const std::vector<std::string>& arguments) -> Result<std::string> {
    asked_.push_back(arguments.at(1));
    return std::string("https://module.example.com/simple\n");
  };
  EXPECT_EQ(main_index(), "https://module.example.com/simple");
  EXPECT_EQ(asked_, std::vector<std::string>{"-c"});
}

TEST(RealAsker, runs_a_program_of_the_given_path_from_the_root_folder) {
  Environment environment;
  environment.set("PATH", "/usr/bin:/bin");
  const auto ask = real_asker(environment, {});
  const auto answer = ask({"sh", "-c", "pwd; echo $COLUMNS"});
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, "/\n500\n");
  EXPECT_FALSE(ask({"sh", "-c", "exit 3"}));
  EXPECT_FALSE(ask({"no-such-program-here"}));
}

TEST_F(Discover, takes_no_plain_http_from_a_program) {
  places_.ask = [](const std::vector<std::string>&) -> Result<std::string> {
    return std::string("--index-url (default http://evil.example.com/simple)");
  };
  EXPECT_EQ(main_index(), k_nvidia_index);
}

TEST_F(Discover, extra_indexes_come_after_the_main_one_without_repeats) {
  places_.environment.set("PIP_INDEX_URL", "https://main.example.com");
  places_.environment.set(
      "PIP_EXTRA_INDEX_URL",
      "https://one.example.com\n https://main.example.com/ https://two.example.com");
  places_.environment.set("UV_INDEX", "corp=https://three.example.com");
  std::vector<std::string> all;
  for (const auto& index : found().indexes) {
    all.push_back(index.location);
  }
  EXPECT_EQ(all, (std::vector<std::string>{"https://main.example.com", "https://three.example.com",
                                           "https://one.example.com", "https://two.example.com"}));
}

TEST_F(Discover, no_index_leaves_only_find_links) {
  places_.environment.set("PIP_NO_INDEX", "1");
  places_.environment.set("PIP_FIND_LINKS", "/srv/wheels");
  places_.environment.set("PIP_INDEX_URL", "https://main.example.com");
  const auto sources = found();
  EXPECT_TRUE(sources.indexes.empty());
  EXPECT_EQ(sources.no_index_by, "PIP_NO_INDEX");
  ASSERT_EQ(sources.find_links.size(), 1U);
  EXPECT_EQ(sources.find_links[0].location, "/srv/wheels");
  EXPECT_TRUE(sources.find_links[0].is_folder());
}

TEST_F(Discover, a_variable_overrides_no_index_of_the_configuration) {
  write("/etc/pip.conf", "[global]\nno-index = yes\n");
  EXPECT_TRUE(found().indexes.empty());
  places_.environment.set("PIP_NO_INDEX", "0");
  EXPECT_EQ(found().indexes.size(), 1U);
}

TEST_F(Discover, an_address_given_to_cukit_itself_beats_no_index) {
  places_.environment.set("PIP_NO_INDEX", "1");
  places_.index_url = "/srv/mirror/";
  const auto sources = found();
  ASSERT_EQ(sources.indexes.size(), 1U);
  EXPECT_EQ(sources.indexes[0].location, "/srv/mirror");
  EXPECT_TRUE(sources.indexes[0].is_folder());
}

TEST_F(Discover, pips_variable_replaces_the_configured_find_links_and_uvs_are_added) {
  write("/etc/pip.conf", "[global]\nfind-links = /configured\n");
  write("/etc/uv/uv.toml", "find-links = [\"links\"]\n");
  places_.environment.set("PIP_FIND_LINKS", "https://links.example.com/page.html /variable");
  places_.environment.set("UV_FIND_LINKS", "/first,/second");
  std::vector<std::string> all;
  for (const auto& one : found().find_links) {
    all.push_back(one.location);
  }
  EXPECT_EQ(all,
            (std::vector<std::string>{"https://links.example.com/page.html", "/variable", "/first",
                                      "/second", (places_.root / "etc/uv/links").string()}));
}

TEST_F(Discover, pip_config_file_takes_the_place_of_the_users_file) {
  write("/etc/pip.conf", "[global]\nextra-index-url = https://etc.example.com\n");
  write("/home/user/.config/pip/pip.conf", "[install]\nindex-url = https://user.example.com\n");
  write("/own.conf", "[global]\nindex-url = https://own.example.com\n");
  EXPECT_EQ(main_index(), "https://user.example.com");
  places_.environment.set("PIP_CONFIG_FILE", "/own.conf");
  const auto sources = found();
  EXPECT_EQ(sources.indexes.at(0).location, "https://own.example.com");
  EXPECT_EQ(sources.indexes.at(1).location, "https://etc.example.com");
  places_.environment.set("PIP_CONFIG_FILE", "/dev/null");
  EXPECT_EQ(main_index(), k_nvidia_index);
}

TEST_F(Discover, a_venvs_file_overrides_the_users) {
  write("/home/user/.config/pip/pip.conf", "[global]\nindex-url = https://user.example.com\n");
  write("/venv/pip.conf", "[global]\nindex-url = https://venv.example.com\n");
  places_.environment.set("VIRTUAL_ENV", "/venv");
  EXPECT_EQ(main_index(), "https://venv.example.com");
}

TEST_F(Discover, an_install_section_of_a_lesser_file_beats_a_global_one) {
  write("/etc/pip.conf", "[install]\nindex-url = https://etc.example.com\n");
  write("/home/user/.config/pip/pip.conf", "[global]\nindex-url = https://user.example.com\n");
  EXPECT_EQ(main_index(), "https://etc.example.com");
}

TEST_F(Discover, a_broken_file_is_an_error_with_its_line_and_a_way_out) {
  write("/etc/pip.conf", "[global]\nindex-url\n");
  const auto result = discover(places_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::source);
  EXPECT_EQ(result.error().where, (places_.root / "etc/pip.conf:2").string());
  EXPECT_NE(result.error().hint.find("--index-url"), std::string::npos);
  places_.index_url = "https://option.example.com";
  const auto sources = found();
  EXPECT_EQ(sources.indexes.at(0).location, "https://option.example.com");
  EXPECT_EQ(sources.notes.size(), 1U);
}

TEST_F(Discover, refuses_addresses_that_are_none) {
  for (const auto* text : {"ftp://mirror.example.com", "\"https://mirror.example.com\"", "https://",
                           "file://host/srv", "https://mirror.example.com/simple # mine"}) {
    places_.environment.set("PIP_INDEX_URL", text);
    const auto result = discover(places_);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().where, "PIP_INDEX_URL");
  }
}

TEST_F(Discover, a_password_is_kept_for_the_request_and_never_shown) {
  places_.environment.set("PIP_INDEX_URL", "https://user:secret@mirror.example.com/simple");
  const auto sources = found();
  EXPECT_NE(sources.indexes.at(0).location.find("secret"), std::string::npos);
  EXPECT_EQ(sources.indexes.at(0).shown(), "https://mirror.example.com/simple");
  places_.environment.set("PIP_INDEX_URL", "https://user:secret@mirror.example.com/simple # x");
  const auto result = discover(places_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message.find("secret"), std::string::npos);
}

TEST(DefaultInHelp, is_found_in_wrapped_text_and_only_in_its_own_entry) {
  EXPECT_EQ(default_in_help(k_pip_help, "--index-url"), "https://index.example.com/simple");
  EXPECT_EQ(default_in_help(k_pip_help, "--extra-index-url"), "");
  EXPECT_EQ(default_in_help(k_uv_help, "--default-index"), "https://uv.example.com/simple");
  EXPECT_EQ(default_in_help("", "--index-url"), "");
}

TEST_F(Discover, an_address_whose_login_needs_quoting_is_refused_and_shows_none_of_it) {
  for (const char* url :
       {"https://user:ge?heim@mirror.example.com/simple",
        "https://user:ge#heim@mirror.example.com/",
        "https://user:ge/heim@mirror.example.com/simple",
        "https://user:ge\\heim@mirror.example.com",
        "https://user:g@?heim@mirror.example.com/simple",
        "https://heim?x@mirror.example.com/simple", "https:/user:heim@mirror.example.com/simple",
        "user:heim@mirror.example.com/simple", "user:ge/heim@mirror.example.com/simple",
        "//user:heim@mirror.example.com/simple", "htps://user:heim@mirror.example.com/simple",
        "https:///user:ge?heim@mirror.example.com"}) {
    places_.index_url = url;
    const auto result = discover(places_);
    ASSERT_FALSE(result) << url;
    EXPECT_EQ(result.error().message.find("heim"), std::string::npos) << result.error().message;
    EXPECT_EQ(result.error().message.find("user"), std::string::npos) << result.error().message;
  }
  places_.index_url = "https://user:ge?heim@mirror.example.com/simple";
  EXPECT_NE(discover(places_).error().hint.find("%3F"), std::string::npos);
}

TEST_F(Discover, an_at_sign_behind_the_host_is_a_part_of_the_path) {
  for (const char* url :
       {"https://mirror.example.com/team@corp/simple",
        "https://mirror.example.com:8443/team@corp/simple", "http://localhost:8080/a@b",
        "https://[::1]:8443/a@b", "https://user:geheim@mirror.example.com/team@corp/simple"}) {
    places_.index_url = url;
    EXPECT_EQ(main_index(), url);
  }
  for (const char* folder : {"/srv/wheels@2026", "./wheels@2026", "wheels@2026", "wheels/a@b",
                             "file:///srv/wheels@2026"}) {
    places_.index_url = folder;
    EXPECT_TRUE(found().indexes.front().is_folder()) << folder;
  }
}

} // namespace
} // namespace cukit::source
