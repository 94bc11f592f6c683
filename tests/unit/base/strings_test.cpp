// What of other people's text may be shown: no control of the terminal, no login.
#include "base/strings.hpp"

#include <gtest/gtest.h>

namespace cukit {
namespace {

TEST(Printable, AControlOfTheTerminalIsSpelledOut) {
  EXPECT_EQ(printable("a\x1b[31mb\x07"), "a\\x1b[31mb\\x07");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\u009b31m"), "\\u009b31m"); // C1: CSI in one character
  EXPECT_EQ(printable("\u0085\u0080"), "\\u0085\\u0080");
}

TEST(Printable, TextThatTurnsItsDirectionIsSpelledOut) {
  EXPECT_EQ(printable("\u202egpj.exe"), "\\u202egpj.exe");
  EXPECT_EQ(printable("\u2066\u2069\u200e\u200f\u061c\u2028"),
            "\\u2066\\u2069\\u200e\\u200f\\u061c\\u2028");
}

TEST(Printable, BytesThatAreNotUtf8AreSpelledOutAndTheRestStays) {
  EXPECT_EQ(printable("Gr\u00fc\u00dfe \xff \u4e2d"), "Gr\u00fc\u00dfe \\xff \u4e2d");
  EXPECT_EQ(printable("\xc2"), "\\xc2");                   // cut short
  EXPECT_EQ(printable("\x9b"), "\\x9b");                   // C1 as one byte
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80"); // a surrogate
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");          // longer than it needs to be
}

TEST(Printable, WhatWasSpelledOutStaysAsItIs) {
  const auto once = printable("a\x1b\u009b\xff");
  EXPECT_EQ(printable(once), once);
}

TEST(RedactUrl, ALoginIsNeverShown) {
  for (const auto* password : {"secret", "sec?ret", "sec#ret", "sec/ret", "se@c?ret", "se?c@ret",
                               "s/e@cret", "?secret", "#secret", "secret?", "sec://ret"}) {
    const auto shown =
        redact_url("https://user:" + std::string(password) + "@host/simple/?t=token");
    EXPECT_EQ(shown.find("ret"), std::string::npos) << password << ": " << shown;
    EXPECT_EQ(shown.find("user"), std::string::npos) << password << ": " << shown;
    EXPECT_EQ(shown.find("token"), std::string::npos) << password << ": " << shown;
    EXPECT_TRUE(shown.starts_with("https://")) << shown;
  }
  EXPECT_EQ(redact_url("user:sec?ret@host/simple"), "host/simple"); // the scheme was forgotten
}

TEST(RedactUrl, WhatHasNoLoginStaysReadable) {
  EXPECT_EQ(redact_url("https://host/simple/?x=1#y"), "https://host/simple/");
  EXPECT_EQ(redact_url("http://127.0.0.1:8080/simple"), "http://127.0.0.1:8080/simple");
  EXPECT_EQ(redact_url("https://[::1]:8080/a"), "https://[::1]:8080/a");
  EXPECT_EQ(redact_url("https://host/pkg@1.0/x"), "https://host/pkg@1.0/x");
  EXPECT_EQ(redact_url("a/b.whl#sha256=1"), "a/b.whl");
  EXPECT_EQ(redact_url("https://user@host/x"), "https://host/x");
}

TEST(JoinWithAnd, says_a_list_as_people_do) {
  EXPECT_EQ(join_with_and({}), "");
  EXPECT_EQ(join_with_and({"13.4.3"}), "13.4.3");
  EXPECT_EQ(join_with_and({"13.4.3", "13.5.0"}), "13.4.3 and 13.5.0");
  EXPECT_EQ(join_with_and({"13.3.1", "13.4.3", "13.5.0"}), "13.3.1, 13.4.3 and 13.5.0");
}

} // namespace
} // namespace cukit
