// Settings in checkpoints and in config.json.
#include "train/run/settings.h"

#include <algorithm>

#include "engine/io/files/file.h"
#include "engine/io/text/json.h"
#include "train/keep/folder.h"

namespace mote {
namespace {

const std::string settings_prefix = "settings.";

/// Splits "training.batch_size" into the group and the name.
std::pair<std::string, std::string> parts_of(const std::string& name) {
  const std::size_t point = std::min(name.find('.'), name.size());
  return {name.substr(0, point), name.substr(std::min(point + 1, name.size()))};
}

}  // namespace

std::string config_json(const std::vector<SettingsGroup>& settings) {
  // A value is written as a JSON number or boolean if it reads back as the same text. All other values are written as
  // strings. For example, a file may be called 1e3, but the number 1e3 would not read back as the text 1e3.
  const auto value_of = [](const std::string& text) {
    try {
      const Json value = parse_json(text);
      const bool plain = value.is(Json::Kind::integer) || value.is(Json::Kind::number) || value.is(Json::Kind::boolean);
      if (plain && text_of(value) == text) return value;
    } catch (const Error&) {
    }
    return Json(text);
  };
  Json document = Json::object();
  for (const SettingsGroup& group : settings) {
    Json values = Json::object();
    for (const Field& f : group.fields) values.add(f.name, value_of(f.value));
    document.add(group.title, std::move(values));
  }
  return text_of(document, 2) + "\n";
}

std::vector<SettingsGroup> read_config_json(const std::string& path) {
  std::vector<SettingsGroup> all;
  if (!file_exists(path)) return all;
  const Json document = parse_json(read_file(path, std::uint64_t{1} << 24), path);
  if (!document.is(Json::Kind::object)) return all;
  const JsonPlace whole(document, path);
  for (const JsonMember& group : whole.members()) {
    if (!group.value.is(Json::Kind::object)) continue;
    all.push_back({group.name, {}});
    for (const JsonMember& m : whole.at(group).members()) {
      const bool text = m.value.is(Json::Kind::string);
      all.back().fields.push_back({m.name, text ? JsonPlace(m.value).as_string() : text_of(m.value), "", ""});
    }
  }
  return all;
}

const std::string* saved_setting(const SafetensorsFile& checkpoint, const std::string& name) {
  return checkpoint.find_metadata(settings_prefix + name);
}

FieldValues saved_settings(const SafetensorsFile& checkpoint) {
  FieldValues all;
  for (const auto& [key, value] : checkpoint.metadata())
    if (key.starts_with(settings_prefix)) all.emplace_back(key.substr(settings_prefix.size()), value);

  const std::string& path = checkpoint.name();
  const std::string folder = path.substr(0, path.find_last_of('/') + 1);
  for (const SettingsGroup& group : read_config_json(folder + "config.json"))
    for (const Field& f : group.fields)
      if (const std::string name = group.title + "." + f.name; !saved_setting(checkpoint, name))
        all.emplace_back(name, f.value);
  return all;
}

std::string saved_state(const SafetensorsFile& checkpoint) {
  const std::string* const text = checkpoint.find_metadata("data_state.text");
  return text ? *text : "";
}

void check_settings(const SafetensorsFile& checkpoint, const std::vector<SettingsGroup>& now,
                    const std::string& folder) {
  const auto find = [&](const std::string& name) -> const Field* {
    const auto [title, field] = parts_of(name);
    for (const SettingsGroup& group : now)
      for (const Field& f : group.fields)
        if (group.title == title && f.name == field) return &f;
    return nullptr;
  };
  std::string differences;
  for (const auto& [key, value] : checkpoint.metadata()) {
    if (!key.starts_with(settings_prefix)) continue;
    const std::string name = key.substr(settings_prefix.size());
    const Field* const here = find(name);
    if (here && (here->use.may_change || here->value == value)) continue;
    differences += (differences.empty() ? "" : ", ") + parts_of(name).second + " " + value + " (here " +
                   (here ? here->value : "unknown") + ")";
  }
  check(differences.empty(), "the run in ", folder, " has ", differences,
        ": give the same, or choose another folder, or remove this one (max_iters and what says how often to look and ",
        "to save may change)");
}

}  // namespace mote
