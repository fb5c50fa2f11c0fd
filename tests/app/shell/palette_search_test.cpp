#include <catch2/catch_test_macros.hpp>

#include "app/shell/pages/palette_search.h"

using app::best_fit, app::name_fit, app::NameFit;

TEST_CASE("what is typed fits a name whole, from its start, from a word, by words, or inside a word") {
  CHECK(name_fit("Roofline", "roofline") == NameFit::whole);
  CHECK(name_fit("KV-cache", "kv cache") == NameFit::whole);
  CHECK(name_fit("Roofline", "roof") == NameFit::start);
  CHECK(name_fit("Achieved bandwidth", "bandw") == NameFit::phrase);
  CHECK(name_fit("Transformer layer", "transf lay") == NameFit::words);
  CHECK(name_fit("Transformer layer", "layer transf") == NameFit::words);
  CHECK(name_fit("Larger interface", "terface") == NameFit::inside);
}

TEST_CASE("letters that are only scattered over a name, and two letters within a word, find nothing") {
  CHECK(name_fit("Presentation mode", "predict") == NameFit::none);
  CHECK(name_fit("Pipeline", "pln") == NameFit::none);
  CHECK(name_fit("Roofline", "oo") == NameFit::none);
  CHECK(name_fit("Roofline", " - ") == NameFit::none);
  CHECK(name_fit("", "a") == NameFit::none);
}

TEST_CASE("another name counts in full where it is typed whole, and a step less where it is begun") {
  CHECK(best_fit("Mixture of experts", {"moe"}, "moe") == NameFit::whole);
  CHECK(best_fit("Export scenario (JSON)", {"save"}, "sav") == NameFit::phrase);
  CHECK(best_fit("Export scenario (JSON)", {"save"}, "export") == NameFit::start);
}
