// Settings in checkpoints and in config.json.
#include "train/run/settings.h"

#include <algorithm>
#include <cstring>

#include "engine/io/text/json.h"

namespace mote {
namespace {

const std::string settings_prefix = "settings.";

/// Settings of older checkpoints that mote no longer knows, with the values at which they had no effect.
constexpr struct {
  const char *name, *value;
} forgotten[] = {
    {"model", "gpt"},         {"preset", nullptr},     {"control", nullptr},          {"separate", "false"},
    {"causal", "default"},    {"causal", "true"},      {"block_dropout", "default"},  {"block_bias", "default"},
    {"out_bias", "default"},  {"mlp_bias", "default"}, {"attention_block_size", "0"}, {"residual_scale", "default"},
    {"rotary_fraction", "1"}, {"decay_ratio", "0.2"},  {"label_smoothing", "0"},      {"overfit", "false"}};

bool had_no_effect(const std::string& name, const std::string& value) {
  return std::any_of(std::begin(forgotten), std::end(forgotten),
                     [&](const auto& f) { return name == f.name && (!f.value || value == f.value); });
}

}  // namespace

const std::string* saved_setting(const SafetensorsFile& checkpoint, const std::string& name) {
  return checkpoint.find_metadata(settings_prefix + name);
}

FieldValues saved_settings(const SafetensorsFile& checkpoint) {
  FieldValues all;
  for (const auto& [key, value] : checkpoint.metadata())
    if (key.starts_with(settings_prefix)) all.emplace_back(key.substr(settings_prefix.size()), value);
  return all;
}

std::string saved_state(const SafetensorsFile& checkpoint) {
  if (const std::string* const text = checkpoint.find_metadata("data_state.text")) return *text;
  // Older checkpoints have its length, and eight bytes in each of the numbers that follow.
  const TensorEntry* const entry = checkpoint.find("task_state");
  if (!entry) return "";
  const IntArray packed = checkpoint.int_array(*entry).contiguous();
  const Index size = packed.numel() > 0 ? packed.data()[0] : -1;
  check(size >= 0 && packed.numel() == (size + 7) / 8 + 1, "a checkpoint's state of its task is damaged");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (size > 0) std::memcpy(bytes.data(), packed.data() + 1, bytes.size());
  return bytes;
}

void check_settings(const SafetensorsFile& checkpoint, const std::vector<SettingsGroup>& now,
                    const std::string& folder) {
  const auto find = [&](const std::string& name) -> const Field* {
    for (const SettingsGroup& group : now)
      for (const Field& f : group.fields)
        if (f.name == name) return &f;
    return nullptr;
  };
  // In older runs resid_dropout was of attention alone, and followed attn_dropout.
  if (saved_setting(checkpoint, "block_dropout"))
    for (const char* const name : {"attn_dropout", "resid_dropout"})
      check(*saved_setting(checkpoint, name) == "default", checkpoint.name(), " has the setting ", name,
            ", which had another meaning when it was saved");
  for (const auto& [name, value] : saved_settings(checkpoint)) {
    const Field* const here = find(name);
    check(here || had_no_effect(name, value), checkpoint.name(), " has the setting ", name, " ", value,
          ", which mote no longer knows");
    check(!here || here->use.may_change || here->value == value, name, " ", here ? here->value : "",
          " contradicts the run in ", folder, ", which has ", value,
          " (max_iters and what says how often to look and to save may change)");
  }
}

std::string config_json(const std::vector<SettingsGroup>& settings) {
  // A number or a boolean as such, if it comes back as it was (a file may be called 1e3), all else as text.
  const auto value_of = [](const std::string& text) {
    try {
      const Json value = parse_json(text);
      if (!value.is(Json::Kind::string) && !value.is(Json::Kind::null) && text_of(value) == text) return value;
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

}  // namespace mote
