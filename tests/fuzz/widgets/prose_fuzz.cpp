// Markdown: every index of the parsed document points at something that is there.
#include "tests/fuzz/fuzz.h"
#include "widgets/prose/prose.h"
#include "widgets/prose/prose_parse.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Kind = widgets::ProseRun::Kind;
  const auto markdown = fuzz::text_of(data, size);
  const widgets::ProseDoc doc = widgets::parse_prose(markdown);
  for (const auto& b : doc.blocks) {
    fuzz::require(b.first_run <= b.run_end && b.run_end <= doc.runs.size(), "a block outside the runs");
    fuzz::require(b.first_cell <= b.cell_end && b.cell_end <= doc.cells.size(), "a block outside the cells");
  }
  for (const auto& c : doc.cells)
    fuzz::require(c.first_run <= c.run_end && c.run_end <= doc.runs.size(), "a cell outside the runs");
  for (const auto& r : doc.runs) {
    fuzz::require(r.begin <= r.end && r.end <= doc.text.size(), "a run outside the text");
    fuzz::require(r.kind != Kind::value || r.index < doc.values.keys.size(), "a run with an unknown value");
    fuzz::require(r.kind != Kind::formula || r.index < doc.formulas.size(), "a run with an unknown formula");
    fuzz::require(r.link < static_cast<std::int32_t>(doc.links.size()), "a run with an unknown link");
  }
  for (const auto& u : doc.uses)
    fuzz::require(u.begin <= u.end && u.end <= doc.source.size() && u.slot < doc.values.keys.size(),
                  "a value that stands nowhere");
  for (const auto& problem : widgets::prose_problems(markdown)) fuzz::require_sentence(problem);
  const widgets::ProseSource source{
      nullptr,
      [](const void*, std::string_view key, widgets::NumberText& scratch) -> std::string_view {
        scratch = widgets::format(static_cast<double>(key.size()), "B");
        return scratch;
      },
      nullptr};
  fuzz::require(widgets::prose_as_markdown(markdown, source).size() <= 64 * (doc.source.size() + 1),
                "values blow the text up");
  return 0;
}
