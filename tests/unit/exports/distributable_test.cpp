// The list of what may be passed on, read out of a licence that is worded as NVIDIA's is.
#include "exports/distributable.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::exports {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* k_licence = R"(
Agreement are listed in Attachment A.

2.6. Attachment A

The following portions of the SDK are distributable:

Component

One Library

Windows

one.dll, one.lib

Linux

libone.so, libone_static.a
libone-more.so, libone_extra.a

Android

libandroid.so

Component

Headers

All

one.h, one.hpp

Component

Driver Libraries

Linux

libdriver.so, libdriver-more.so

These are only distributable in applications that meet this criteria:

  1. The application was started from a container.

Component

Two Library

Linux

libtwo.10.bc

2.7. Attachment B

Linux

libthree.so
)";

TEST(Distributable, what_is_listed_for_this_system_without_a_condition) {
  EXPECT_THAT(listed_files(k_licence),
              ElementsAre("libone-more.so", "libone.so", "libone_extra.a", "libone_static.a",
                          "libtwo.10.bc", "one.h", "one.hpp"));
}

TEST(Distributable, a_text_without_the_list_lets_nothing_be_passed_on) {
  EXPECT_THAT(listed_files(""), IsEmpty());
  EXPECT_THAT(listed_files("what is listed in Attachment A\nLinux\nliba.so\n"), IsEmpty());
}

TEST(Distributable, a_library_with_its_version_is_the_one_that_is_listed) {
  const std::set<std::string> listed{"libone.so", "libtwo.10.bc", "one.h"};
  for (const auto* path : {"lib/libone.so", "lib/libone.so.13", "lib/libone.so.13.0.96",
                           "nvvm/libdevice/libtwo.10.bc", "one.h"}) {
    EXPECT_TRUE(is_listed(path, listed)) << path;
  }
  for (const auto* path :
       {"lib/libone_static.a", "lib/libone.a", "bin/one.h.in", "lib/liboneX.so.1", "libone.so/x"}) {
    EXPECT_FALSE(is_listed(path, listed)) << path;
  }
}

} // namespace
} // namespace cukit::exports
