// SPDX-License-Identifier: Apache-2.0
//
// std::string, small and large, its conversions, and the stream classes over it.

#include <charconv>
#include <cmath>
#include <iomanip>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "conformance.hpp"

namespace conformance {

void strings() {
  const auto empty = std::make_unique<std::string>();
  rolls_back(
      "string that grows",
      [&] {
        for (int i = 0; i < 500; ++i) {
          *empty += "xyz";
          empty->insert(0, "q");
        }
        empty->replace(3, 5, "abc");
        empty->erase(1, 2);
        empty->reserve(9999);
        empty->shrink_to_fit();
      },
      [&] { return empty->empty(); });
  const auto large = std::make_unique<std::string>(200, 'a');
  rolls_back(
      "string changed in place",
      [&] {
        (*large)[5] = 'b';
        large->resize(50);
        large->assign("hello");
        large->push_back('x');
      },
      [&] { return *large == std::string(200, 'a'); });
  const auto small = std::make_unique<std::string>("small");
  rolls_back(
      "small string", [&] { small->append("er"); }, [&] { return *small == "small"; });
  rolls_back(
      "strings swapped", [&] { std::swap(*small, *large); },
      [&] { return *small == "small" && large->size() == 200; });
  rolls_back(
      "to_string and stoi",
      [&] { *small = std::to_string(std::stoi("123456") + 1) + std::to_string(3.5); },
      [&] { return *small == "small"; });
  const auto buffer = std::make_unique<char[]>(64);
  rolls_back(
      "to_chars of an integer", [&] { std::to_chars(buffer.get(), buffer.get() + 64, 123456789); },
      [&] { return buffer[0] == 0 && buffer[8] == 0; });
  const auto found = std::make_unique<std::vector<std::string>>();
  rolls_back(
      "regular expression",
      [&] {
        const std::regex pattern("([a-z]+)([0-9]+)");
        std::smatch parts;
        const std::string text = "abc123";
        if (std::regex_match(text, parts, pattern)) found->push_back(parts[2]);
      },
      [&] { return found->empty(); });
}

void streams() {
  const auto out = std::make_unique<std::ostringstream>();
  *out << "start";
  rolls_back(
      "ostringstream",
      [&] {
        *out << "abc" << 5 << ' ' << 3.25 << std::hex << std::setw(8) << 255
             << std::string(500, 'z');
      },
      [&] { return out->str() == "start"; });
  *out << 255;
  report("ostringstream's format after the abort", out->str() == "start255");
  const auto in = std::make_unique<std::istringstream>("12 abc 3.5");
  rolls_back(
      "istringstream",
      [&] {
        int number = 0;
        std::string word;
        double fraction = 0;
        *in >> number >> word >> fraction;
      },
      [&] {
        int number = 0;
        *in >> number;
        return number == 12;
      });
}

}  // namespace conformance
