// SPDX-License-Identifier: Apache-2.0
#include "src/lab/source_text.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using unlatch::lab::source_text;
using namespace std::chrono_literals;

/// A file with this text, removed at the end.
class written_file {
 public:
  explicit written_file(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  ~written_file() { std::filesystem::remove(path_); }
  written_file(const written_file&) = delete;
  written_file& operator=(const written_file&) = delete;

  std::string path() const { return path_.string(); }
  std::filesystem::file_time_type time() const { return std::filesystem::last_write_time(path_); }

 private:
  std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".cpp");
};

TEST(SourceText, gives_lines_without_the_blanks_around_them) {
  const written_file file("int a;\n\t  a = 1;  \r\n\nlast");
  source_text text(file.time());
  EXPECT_EQ(text.line(file.path(), 1), "int a;");
  EXPECT_EQ(text.line(file.path(), 2), "a = 1;");
  EXPECT_EQ(text.line(file.path(), 3), "");
  EXPECT_EQ(text.line(file.path(), 4), "last");
}

TEST(SourceText, has_no_lines_that_the_file_has_not) {
  const written_file file("one\n");
  source_text text(file.time());
  for (const int number : {-1, 0, 2}) EXPECT_EQ(text.line(file.path(), number), "") << number;
  EXPECT_EQ(text.line(file.path() + ".absent", 1), "");
  EXPECT_EQ(text.line(testing::TempDir(), 1), "");
}

TEST(SourceText, keeps_silent_about_a_file_that_changed_after_the_program_was_built) {
  const written_file file("changed\n");
  source_text older(file.time() - 1s);
  EXPECT_EQ(older.line(file.path(), 1), "");
}

TEST(SourceText, cuts_long_lines_between_characters) {
  const std::string start(source_text::most_bytes - 1, 'x');
  const written_file file(start + "é and more\n");
  source_text text(file.time());
  EXPECT_EQ(text.line(file.path(), 1), start);
}

}  // namespace
