// SPDX-License-Identifier: Apache-2.0
//
// Running cells on a simulated machine: in unlatch-lab, the program that holds the studies compiled
// for the lab.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>

#include "studies/lab_protocol.hpp"

namespace unlatch::studies {

class lab_program {
 public:
  /// Finds unlatch-lab: the file that UNLATCH_LAB_PROGRAM names; beside this program; in the
  /// libexec/unlatch of its installation; or in the folder `lab` of the build tree. Throws
  /// study_error if it is nowhere.
  lab_program();
  explicit lab_program(std::filesystem::path file) : file_(std::move(file)) {}

  /// Measures one cell. Throws study_error with what the program says if it fails, given_up if the
  /// cell used up its virtual time, and `interrupted` after a stop request, which ends it.
  [[nodiscard]] measurement measure(const lab_request& request, const std::stop_token& stop) const;

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
};

/// Measures cells on simulated machines: in the study's own programs where it has them, else in
/// unlatch-lab, which is found when it is first needed.
class simulator {
 public:
  simulator() = default;
  explicit simulator(lab_program lab) : lab_(std::move(lab)) {}

  /// Throws as lab_program::measure() does, and what the study's own measurement throws.
  [[nodiscard]] measurement measure(const study& what, const cell& one, const lab::model_file& on,
                                    bool blame, const std::stop_token& stop);

 private:
  std::optional<lab_program> lab_;
};

}  // namespace unlatch::studies
