// SPDX-License-Identifier: Apache-2.0
#include "studies/record_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "sample.hpp"
#include "studies/replace_file.hpp"

namespace unlatch::studies {
namespace {

using testing::contents_of;

/// Makes every file of this process fail to grow beyond `bytes`, as a full disk would.
class full_disk {
 public:
  explicit full_disk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  full_disk(const full_disk&) = delete;
  full_disk& operator=(const full_disk&) = delete;
  ~full_disk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(ReplaceFile, replaces_the_contents_and_leaves_nothing_else) {
  const testing::temporary_directory directory;
  const auto file = directory.path() / "page.html";
  replace_file(file, "first");
  replace_file(file, "second");
  EXPECT_EQ(contents_of(file), "second");
  EXPECT_EQ(directory.entries(), 1);
}

TEST(ReplaceFile, leaves_the_old_file_and_no_half_one_when_the_disk_is_full) {
  const testing::temporary_directory directory;
  const auto file = directory.path() / "page.html";
  replace_file(file, "old");
  {
    const full_disk disk(4096);
    EXPECT_THROW(replace_file(file, std::string(10000, 'x')), std::filesystem::filesystem_error);
  }
  EXPECT_EQ(contents_of(file), "old");
  EXPECT_EQ(directory.entries(), 1);
}

TEST(ReplaceFile, leaves_nothing_when_it_cannot_be_renamed_into_place) {
  const testing::temporary_directory directory;
  const auto taken = directory.path() / "taken";
  std::filesystem::create_directory(taken);
  EXPECT_THROW(replace_file(taken, "text"), std::filesystem::filesystem_error);
  EXPECT_EQ(directory.entries(), 1);
}

TEST(ReplaceFile, names_the_file_that_cannot_be_made) {
  const testing::temporary_directory directory;
  const auto file = directory.path() / "absent" / "page.html";
  try {
    replace_file(file, "text");
    FAIL() << "nothing was thrown";
  } catch (const std::filesystem::filesystem_error& error) {
    EXPECT_EQ(error.path1(), file);
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
  }
}

TEST(RecordFile, holds_whole_records_after_every_append) {
  const testing::temporary_directory directory;
  record_file file(directory.path() / "run", "sample");
  record one = testing::full_record();
  for (unsigned repeat = 1; repeat <= 3; ++repeat) {
    one.repeat = repeat;
    file.append(one);
    const auto records = read_records(file.path());
    ASSERT_EQ(records.size(), repeat);
    EXPECT_EQ(records.back(), one);
  }
  EXPECT_EQ(file.size(), 3);
}

TEST(RecordFile, keeps_the_file_of_the_run_before) {
  const testing::temporary_directory directory;
  record one = testing::full_record();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    record_file file(directory.path(), "sample");
    if (seed > 1) {
      EXPECT_EQ(read_records(file.path()).size(), 2) << "before the first append";
    }
    one.seed = seed;
    file.append(one);
    file.append(one);
  }
  EXPECT_EQ(read_records(directory.path() / "sample.jsonl").front().seed, 3);
  EXPECT_EQ(read_records(directory.path() / "sample.jsonl.previous").front().seed, 2);
  EXPECT_EQ(directory.entries(), 2);
}

TEST(RecordFile, holds_what_it_held_when_an_append_fails) {
  const testing::temporary_directory directory;
  record_file file(directory.path(), "sample");
  record one = testing::full_record();
  file.append(one);
  {
    const full_disk disk(1024);
    record large = one;
    large.extra["note"] = std::string(4096, 'x');
    EXPECT_THROW(file.append(large), std::filesystem::filesystem_error);
  }
  EXPECT_EQ(read_records(file.path()).size(), 1);
  EXPECT_EQ(directory.entries(), 1);
  file.append(one);
  EXPECT_EQ(read_records(file.path()).size(), 2);
}

TEST(RecordFile, needs_a_directory) {
  const testing::temporary_directory directory;
  std::ofstream(directory.path() / "file") << "";
  EXPECT_THROW(record_file(directory.path() / "file", "sample"), std::filesystem::filesystem_error);
}

}  // namespace
}  // namespace unlatch::studies
