// SPDX-License-Identifier: Apache-2.0
//
// properties: the settings of a workload, read from YCSB's property files. A line is `name=value`
// (or `name:value`), empty, or a comment that begins with # or !. A later setting replaces an
// earlier one. Errors name the file, the line, the field and what would be right.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace unlatch::ycsb {

/// A property file or setting that cannot be used. what() says where and what to do.
class property_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class properties {
 public:
  properties() = default;

  /// Reads a property file. Throws property_error.
  [[nodiscard]] static properties read(const std::filesystem::path& file);
  /// The same from text; `origin` stands for the file's name in errors.
  [[nodiscard]] static properties parse(std::string_view text, const std::string& origin);

  /// Adds one `name=value`; `origin` says in errors where it came from.
  void set(std::string_view assignment, const std::string& origin);

  // Each of these returns the setting's value, or `otherwise` where it is not set; throws
  // property_error if it is malformed or out of range; and makes its name known to require_known().

  [[nodiscard]] std::uint64_t whole_number(const std::string& name, std::uint64_t otherwise,
                                           std::uint64_t least = 0) const;
  /// A number from 0 to 1.
  [[nodiscard]] double fraction(const std::string& name, double otherwise) const;
  [[nodiscard]] bool truth(const std::string& name, bool otherwise) const;
  /// The position in `choices` of the value set, or of `otherwise`, which is one of them.
  [[nodiscard]] std::size_t choice(const std::string& name, std::string_view otherwise,
                                   const std::vector<std::string_view>& choices) const;

  [[nodiscard]] bool contains(const std::string& name) const { return settings_.contains(name); }

  /// Makes a name known whose value makes no difference here.
  void ignore(const std::string& name) const { known_.insert(name); }

  /// Throws property_error for the first setting whose name nobody has asked for, with the nearest
  /// name that somebody has.
  void require_known() const;

  /// Throws property_error: `complaint` about the setting `name`, which need not be set.
  [[noreturn]] void reject(const std::string& name, const std::string& complaint) const;

 private:
  struct setting {
    std::string value;
    std::string place;
  };
  const setting* find(const std::string& name) const;

  std::map<std::string, setting> settings_;
  std::string origin_ = "settings";
  mutable std::set<std::string> known_;
};

}  // namespace unlatch::ycsb
