#pragma once
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/transformer/transformer.h"

/// How a config's fields are read: inside this folder alone. The first thing wrong is kept as one sentence and all
/// later answers are harmless, so that a reader states fields one after another and looks at error() once.
namespace models {

using Names = std::initializer_list<const char*>;  ///< a field and its older or other names; sentences use the first

/// What stands for a size that a config leaves out, and for one that it gives as null.
struct Absent {
  std::int64_t missing = 0;
  std::int64_t null = 0;
};

class ConfigFields {
 public:
  /// `text` has passed json_problem. A multimodal wrapper is entered: its fields are then Hugging Face's defaults where
  /// missing, as it writes only those that differ.
  ConfigFields(std::string_view text, std::string_view origin);
  ~ConfigFields();
  ConfigFields(const ConfigFields&) = delete;
  ConfigFields& operator=(const ConfigFields&) = delete;

  const std::string& error() const { return error_; }
  void fail(std::string what);                                ///< keeps "origin: what" if it is the first
  void fail_value(Names names, const std::string& expected);  ///< "names[0] is VALUE; EXPECTED is expected."

  bool has(Names names) const;  ///< given and not null
  /// One whole sentence on what a multimodal config describes beside the language model. Empty for any other.
  std::string left_out() const;
  /// A size that must be given; in a wrapper it may be missing and is `wrapped_default`.
  std::int64_t size(Names names, std::int64_t highest, std::int64_t wrapped_default);
  /// A size that may be left out or be null. `lowest` is the smallest that may be given.
  std::int64_t size_or(Names names, std::int64_t lowest, std::int64_t highest, Absent absent);
  bool flag(Names names, bool missing);
  bool tied(bool missing);  ///< tie_word_embeddings, which a wrapper may give outside
  double fraction(Names names, double missing);
  std::string word(Names names, std::string missing);
  /// One entry per layer, or empty if the list is missing or null.
  std::vector<std::string> words_per_layer(const char* name, std::int64_t layers);
  std::vector<std::int64_t> integers(const char* name, std::int64_t highest);
  /// The same reading inside the object `name`, with the sentence saying so. A missing object reads as empty.
  void enter(const char* name);
  void leave();

 private:
  struct Document;
  std::unique_ptr<Document> document_;
  std::string origin_;
  std::string error_;
  std::string prefix_;
};

/// Widest shapes that a config may have: twice and more what any published model has.
inline constexpr std::int64_t max_hidden = 1'000'000, max_layers = 10'000, max_heads = 100'000, max_ffn = 10'000'000,
                              max_vocab = 10'000'000, max_experts = 100'000, max_positions = 10'000'000,
                              max_window = 1'000'000'000;

/// Reads everything of one model type into an architecture whose model_type is set.
using FamilyReader = void (*)(ConfigFields&, Architecture&);
struct Family {
  std::string_view model_type;
  FamilyReader read;
};
const std::vector<Family>& families();  ///< sorted by model_type
/// The readers of families_recent.cpp.
void read_olmo2(ConfigFields& f, Architecture& a);
void read_falcon(ConfigFields& f, Architecture& a);
void read_gpt_oss(ConfigFields& f, Architecture& a);
void read_llama4(ConfigFields& f, Architecture& a);
void read_mllama(ConfigFields& f, Architecture& a);

/// The readers of families_gpt.cpp: the older families.
void read_gpt2(ConfigFields& f, Architecture& a);
void read_opt(ConfigFields& f, Architecture& a);
void read_bloom(ConfigFields& f, Architecture& a);
void read_phi(ConfigFields& f, Architecture& a);
void read_mpt(ConfigFields& f, Architecture& a);
void read_gpt_neox(ConfigFields& f, Architecture& a);

/// What the readers of several files share.
struct SizeDefaults {
  std::int64_t vocab, hidden, ffn, layers, heads, kv_heads = 0, head_dim = 0;  ///< kv_heads or head_dim 0 follow
};
/// Sizes under the names that Llama set and most follow; RMSNorm, rotary embedding and a gated feed-forward.
void read_llama_sizes(ConfigFields& f, Architecture& a, const SizeDefaults& d);
/// `names` say how the activation is called; `missing` stands for one left out.
void read_activation(ConfigFields& f, Architecture& a, Names names, const char* missing);
/// `layer_types` where the config lists them, one for each layer and true for those that slide; empty otherwise.
std::vector<bool> read_layer_types(ConfigFields& f, const Architecture& a);
/// One form per layer, or none when they are all alike; drops a window, experts or rotation that no layer has.
void keep_forms(Architecture& a, std::vector<LayerForm> forms);

}  // namespace models
