#include <catch2/catch_test_macros.hpp>

#include "app/store/files.h"
#include "app/store/kept.h"
#include "app/store/notes.h"
#include "app/store/progress.h"
#include "app/store/recent.h"
#include "app/store/resume.h"
#include "app/store/settings.h"
#include "app/workspace/stored.h"
#include "tests/faults/injection.h"
#include "tests/support/base/files.h"
#include "tests/support/lab/documents.h"

/// Each of the learner's documents, with every request for memory and every system call failing in turn, once and for
/// good: what was saved before is on the disk or what was to be saved, and what is in memory is still there to be saved
/// again.

namespace {

using faults::Attempt;
using faults::What;
using support::Folder;

/// A document with something in it; `more` has all of that and more.
template <class T>
T document(bool more);

template <>
app::store::Settings document(bool more) {
  app::store::Settings s;
  s.light = more;
  s.last_lab = more ? "roofline/roofline" : "roofline/iron-law";
  return s;
}
template <>
app::store::Progress document(bool more) {
  app::store::Progress p;
  p.visit("roofline/roofline");
  p.predict("roofline/roofline", {"ridge", 300, 295, 1});
  if (more) p.try_preset("roofline/iron-law", "A preset with a name that is long enough for the heap");
  return p;
}
template <>
app::store::Notes document(bool more) {
  app::store::Notes n;
  n.set("roofline/roofline", "The ridge is where both ceilings meet, and it moves with the format.");
  if (more) n.set("roofline/iron-law", "Time is bytes over bandwidth where nothing else is slower.");
  return n;
}
template <>
app::store::Kept document(bool more) {
  app::store::Kept k;
  k.add("drill.history", {R"({"drill":"decode-1","right":true})"});
  if (more) k.add("drill.history", {R"({"drill":"decode-2","right":false})"});
  return k;
}
template <>
app::store::Recent document(bool more) {
  app::store::Recent r;
  r.add({"roofline/roofline", "Roofline: batch=1", R"({"lab":"roofline/roofline","inputs":{}})", 1});
  if (more) r.add({"roofline/iron-law", "Iron law: bytes=2", R"({"lab":"roofline/iron-law","inputs":{}})", 2});
  return r;
}
template <>
app::store::Resume document(bool more) {
  app::store::Resume r;
  r.labs["roofline/roofline"] = {R"({"batch":1})", "{}", 1};
  if (more) r.labs["roofline/iron-law"] = {R"({"bytes":2})", "{}", 2};
  r.drawer = "notes";
  return r;
}
template <>
app::store::Files document(bool more) {
  app::store::Files f;
  f.add_opened("/home/ada/recordings/a-recording-with-a-long-name.json");
  if (more) f.add_opened("/home/ada/recordings/another-recording.json");
  return f;
}

template <class T>
T on_disk(const std::filesystem::path& path) {
  T value{};
  const auto report = app::load_document(path, value);
  if (report.found != app::store::Found::loaded) FAIL("not loaded: " << report.notice);
  return value;
}

template <class T>
void check_saving(const char* name, What what) {
  const T before = document<T>(false), after = document<T>(true);
  const int descriptors = faults::open_descriptors();
  faults::at_every_call(name, what, [&](Attempt& attempt) {
    const Folder folder;
    const auto path = folder / "document.json";
    app::Stored<T> stored;
    stored.may_save = true;
    stored.value = before;
    REQUIRE(stored.save(path).empty());
    stored.value = after;
    std::string notice;
    const bool returned = faults::armed(attempt, [&] { notice = stored.save(path); });
    const T found = on_disk<T>(path);
    const bool new_on_disk = support::same_document(found, after);
    if (!new_on_disk && !support::same_document(found, before))
      FAIL("neither the old document nor the new one is on the disk");
    if (returned && stored.unsaved && !faults::is_sentence(notice)) FAIL("no sentence: \"" << notice << "\"");
    if (returned && !stored.unsaved && !new_on_disk) FAIL("called saved, and is not on the disk");
    if (!support::same_document(stored.value, after)) FAIL("what was to be saved is no longer in memory");
    if (folder.count(".corrupt-") + folder.count(".ridgeline-") != 0) FAIL("a file was left behind or set aside");
    // And tried again, it is saved.
    if (const auto again = stored.save(path); !again.empty()) FAIL("the second time: " << again);
    if (!support::same_document(on_disk<T>(path), after)) FAIL("the second save did not arrive");
    if (faults::open_descriptors() != descriptors) FAIL("a file was left open");
  });
}

template <class T>
void check_loading(const char* name, What what) {
  const T kept = document<T>(true);
  const int descriptors = faults::open_descriptors();
  const Folder folder;
  const auto path = folder / "document.json";
  {
    app::Stored<T> stored;
    stored.may_save = true;
    stored.value = kept;
    REQUIRE(stored.save(path).empty());
  }
  const std::string bytes = folder.read("document.json");
  faults::at_every_call(name, what, [&](Attempt& attempt) {
    T value{};
    app::store::LoadReport report;
    const bool returned = faults::armed(attempt, [&] { report = app::load_document(path, value); });
    if (folder.read("document.json") != bytes || folder.count(".corrupt-") != 0)
      FAIL("a document that is good was changed or set aside");
    if (returned && report.found == app::store::Found::loaded && !support::same_document(value, kept))
      FAIL("loaded something else");
    if (returned && report.found != app::store::Found::loaded &&
        (report.may_save() || !faults::is_sentence(report.notice)))
      FAIL("what could not be read may be overwritten, or nobody is told: \"" << report.notice << "\"");
    if (faults::open_descriptors() != descriptors) FAIL("a file was left open");
  });
}

}  // namespace

static void check_saving_all(What what) {
  check_saving<app::store::Settings>("save settings", what);
  check_saving<app::store::Progress>("save progress", what);
  check_saving<app::store::Notes>("save notes", what);
  check_saving<app::store::Kept>("save kept", what);
  check_saving<app::store::Recent>("save recent", what);
  check_saving<app::store::Resume>("save resume", what);
  check_saving<app::store::Files>("save files", what);
}

TEST_CASE("no memory at any moment of saving loses neither the document on the disk nor the one in memory") {
  check_saving_all(What::memory);
}

TEST_CASE("a disk that fails at any call of saving loses neither the document on the disk nor the one in memory") {
  check_saving_all(What::files);
}

static void check_loading_all(What what) {
  {
    check_loading<app::store::Settings>("load settings", what);
    check_loading<app::store::Progress>("load progress", what);
    check_loading<app::store::Notes>("load notes", what);
    check_loading<app::store::Kept>("load kept", what);
    check_loading<app::store::Recent>("load recent", what);
    check_loading<app::store::Resume>("load resume", what);
    check_loading<app::store::Files>("load files", what);
  }
}

TEST_CASE("a disk that fails at any call of loading leaves the file as it is, and it is not saved over") {
  check_loading_all(What::files);
}

TEST_CASE("no memory at any moment of loading leaves the file as it is, and it is not saved over") {
  check_loading_all(What::memory);
}
