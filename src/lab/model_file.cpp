// SPDX-License-Identifier: Apache-2.0
#include "src/lab/model_file.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "src/lab/model_fields.hpp"

namespace unlatch::lab {
namespace {

using nlohmann::json;
using std::to_string;

/// Reads one model; knows its source for what it tells of errors.
class reader {
 public:
  explicit reader(std::string_view source) : source_(source) {}

  [[noreturn]] void fail(std::string_view field, const std::string& what) const {
    throw model_error(source_ + ": field '" + std::string(field) + "': " + what);
  }

  json parse(std::string_view text) const {
    try {
      return json::parse(text);
    } catch (const json::parse_error& error) {
      const auto line =
          1 +
          std::count(text.begin(),
                     text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size())),
                     '\n');
      throw model_error(source_ + ":" + to_string(line) + ": this is no JSON: " + error.what());
    }
  }

  /// Throws unless `object` is an object with the keys `allowed` and no others.
  void require_keys(const json& object, const std::string& field,
                    const std::vector<std::string>& allowed) const {
    if (!object.is_object()) fail(field, "must be an object with " + listed(allowed));
    for (const auto& [key, value] : object.items()) {
      if (std::ranges::find(allowed, key) == allowed.end()) {
        fail(joined(field, key), "is not known; allowed here are " + listed(allowed));
      }
    }
    for (const auto& key : allowed) {
      if (!object.contains(key)) fail(joined(field, key), "is missing");
    }
  }

  std::string text(const json& object, const std::string& field, const std::string& key) const {
    const json& value = object.at(key);
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
      fail(joined(field, key), "must be a text that is not empty");
    }
    return value.get<std::string>();
  }

  static std::string joined(const std::string& field, const std::string& key) {
    return field.empty() ? key : field + "." + key;
  }

 private:
  static std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  std::string source_;
};

/// The keys that stand directly under `prefix` in the paths of the constants, in their order.
std::vector<std::string> keys_under(const std::string& prefix) {
  std::vector<std::string> keys;
  for (const auto& field : model_fields()) {
    if (!field.path.starts_with(prefix)) continue;
    const auto rest = field.path.substr(prefix.size());
    const std::string key(rest.substr(0, rest.find('.')));
    if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  }
  return keys;
}

void require_all_keys(const reader& from, const json& constants) {
  const auto groups = keys_under("");
  from.require_keys(constants, "constants", groups);
  for (const auto& group : groups) {
    const auto keys = keys_under(group + ".");
    if (!keys.empty()) from.require_keys(constants.at(group), "constants." + group, keys);
  }
}

const json& constant_at(const json& constants, std::string_view path) {
  const auto dot = path.find('.');
  if (dot == std::string_view::npos) return constants.at(std::string(path));
  return constants.at(std::string(path.substr(0, dot))).at(std::string(path.substr(dot + 1)));
}

model_constant read_constant(const reader& from, const model_field& field, const json& constant) {
  const std::string path = "constants." + std::string(field.path);
  from.require_keys(constant, path, {"value", "unit", "source"});
  model_constant read{std::string(field.path), 0, field.truth != nullptr,
                      from.text(constant, path, "unit"), from.text(constant, path, "source")};
  if (read.unit != field.unit) {
    from.fail(path + ".unit", "is '" + read.unit + "'; must be '" + std::string(field.unit) + "'");
  }
  const json& value = constant.at("value");
  if (read.is_truth) {
    if (!value.is_boolean()) from.fail(path, "must be true or false");
    read.value = value.get<bool>() ? 1 : 0;
    return read;
  }
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < field.minimum ||
      value.get<std::uint64_t>() > field.maximum) {
    from.fail(path, "is " + value.dump() + "; must be a whole number from " +
                        to_string(field.minimum) + " to " + to_string(field.maximum) + " (" +
                        std::string(field.unit) + ")");
  }
  read.value = value.get<std::uint32_t>();
  return read;
}

/// First and second level pick a set by bits of the address within a page; the third is made of
/// slices, so its sets need not be a power of two.
void require_geometry(const reader& from, const char* field, const cache_level& level,
                      bool power_of_two) {
  const std::uint32_t way = cache_level::line * level.ways;
  const auto fail = [&](const std::string& sets) {
    from.fail(std::string("constants.") + field + ".bytes",
              "is " + to_string(level.bytes) + "; must be " + to_string(way) + " (" +
                  to_string(level.ways) + " ways of 64-byte lines) times " + sets);
  };
  if (level.bytes % way != 0) fail(power_of_two ? "a power of two" : "a whole number");
  if (power_of_two && (!std::has_single_bit(level.sets()) || level.sets() < 64)) {
    fail("a power of two, 64 at least");
  }
}

void require_consistency(const reader& from, const model& m) {
  require_geometry(from, "l1d", m.l1d, true);
  require_geometry(from, "l2", m.l2, true);
  require_geometry(from, "l3", m.l3, false);
  if (m.cpus() > most_cpus || m.cores() > most_cores) {
    from.fail("constants.sockets", "makes " + to_string(m.cpus()) + " logical CPUs on " +
                                       to_string(m.cores()) + " cores; at most " +
                                       to_string(most_cpus) + " on " + to_string(most_cores) +
                                       " can be simulated");
  }
  if (!std::has_single_bit(m.system.page_bytes)) {
    from.fail("constants.system.page_bytes", "must be a power of two");
  }
  if (m.l1d.latency > m.l2.latency || m.l2.latency > m.l3.latency ||
      m.l3.latency > m.beyond.memory) {
    from.fail("constants.beyond.memory",
              "latencies must not fall from l1d over l2 and l3 to the memory");
  }
}

calibration_figure read_figure(const reader& from, const std::string& path, const json& figure) {
  from.require_keys(figure, path, {"figure", "value", "unit", "source"});
  if (!figure.at("value").is_number()) from.fail(path + ".value", "must be a number");
  return {from.text(figure, path, "figure"), figure.at("value").get<double>(),
          from.text(figure, path, "unit"), from.text(figure, path, "source")};
}

}  // namespace

model_file parse_model(std::string_view text, std::string_view source) {
  const reader from(source);
  const json object = from.parse(text);
  from.require_keys(object, "", {"name", "description", "used_by", "constants", "calibration"});
  model_file file;
  file.name = from.text(object, "", "name");
  file.description = from.text(object, "", "description");
  file.used_by = from.text(object, "", "used_by");
  const json& constants = object.at("constants");
  require_all_keys(from, constants);
  for (const auto& field : model_fields()) {
    file.listed.push_back(read_constant(from, field, constant_at(constants, field.path)));
    const auto value = file.listed.back().value;
    if (field.truth != nullptr) {
      field.truth(file.constants) = value != 0;
    } else {
      field.number(file.constants) = value;
    }
  }
  require_consistency(from, file.constants);
  const json& calibration = object.at("calibration");
  if (!calibration.is_array()) from.fail("calibration", "must be a list of figures");
  for (std::size_t i = 0; i < calibration.size(); ++i) {
    file.calibration.push_back(
        read_figure(from, "calibration[" + to_string(i) + "]", calibration[i]));
  }
  return file;
}

nlohmann::ordered_json to_json(const model_file& file) {
  using ordered = nlohmann::ordered_json;
  ordered constants = ordered::object();
  for (const auto& constant : file.listed) {
    const auto dot = constant.path.find('.');
    ordered& at = dot == std::string::npos
                      ? constants[constant.path]
                      : constants[constant.path.substr(0, dot)][constant.path.substr(dot + 1)];
    at["value"] = constant.is_truth ? ordered(constant.value != 0) : ordered(constant.value);
    at["unit"] = constant.unit;
    at["source"] = constant.source;
  }
  ordered calibration = ordered::array();
  for (const auto& figure : file.calibration) {
    calibration.push_back({{"figure", figure.figure},
                           {"value", figure.value},
                           {"unit", figure.unit},
                           {"source", figure.source}});
  }
  return {{"name", file.name},
          {"description", file.description},
          {"used_by", file.used_by},
          {"constants", std::move(constants)},
          {"calibration", std::move(calibration)}};
}

model_file read_model(const std::filesystem::path& file) {
  std::ifstream input(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(input), {}};
  if (!input.is_open() || input.bad()) {
    throw model_error(file.string() + ": cannot be read; give the file of a machine model");
  }
  return parse_model(text, file.string());
}

}  // namespace unlatch::lab
