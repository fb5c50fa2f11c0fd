#pragma once
#include <any>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "chapters/mechanism/file_kind.h"
#include "models/base/result.h"

namespace chapters {

class Fields;

enum class Kind : std::uint8_t { real, integer, toggle, choice, choices, text, file, reals, table };
enum class Scale : std::uint8_t { linear, log, step };

/// A condition on an input of the lab: it reads `value`. An input or output may name several values, "a|b". Toggles
/// read "true" or "false"; a file reads "" while none is chosen. Without a key there is no condition.
struct When {
  std::string_view key, value;
  constexpr bool empty() const { return key.empty(); }
};

struct Choice {
  std::string id;     ///< what scenarios, the command line and tests say
  std::string label;  ///< what a person reads
  std::string help;
  When when{};  ///< the option is offered only while this holds
};
/// Must outlive every Fields that refers to it: a namespace-scope constant or part of the Catalog.
using Choices = std::vector<Choice>;

/// Whose an input's value is.
enum class Origin : std::uint8_t {
  set,       ///< The learner sets it; it belongs to scenarios, undo and reset.
  measured,  ///< A service of the app finds it: in scenarios, but not set by hand, out of undo, and there after a
             ///< reset.
  kept,      ///< Learner history (answers): saved across sessions under `shared`; not part of scenarios or undo.
  clock,     ///< The time of day, which the app sets; not part of scenarios or undo.
};

/// What a person reads beside a field's value. Strings are literals or outlive the field.
struct Label {
  Label(const char* words) : text(words) {}
  Label(std::string_view words, std::string_view unit_of = {}) : text(words), unit(unit_of) {}
  std::string_view text;
  /// SI unit that the stored number has: "s", "B", "FLOP", "B/s", "FLOP/s", "W", "J", "%", "tokens"; empty: a pure
  /// number.
  std::string_view unit;
};

/// Inclusive range of a number, and of each number in a list.
struct Range {
  double lo = 0, hi = 1;
  Scale scale = Scale::linear;
  double step = 1;  ///< for Scale::step
  /// Is what begins at `from` on a logarithm? One that begins at 0 or below has no place there.
  bool is_log(double from) const { return scale == Scale::log && from > 0; }
  /// The place `t`, 0 to 1, between two numbers, as the scale has it.
  double between(double from, double to, double t) const {
    return is_log(from) ? from * std::pow(to / from, t) : from + (to - from) * t;
  }
};
/// From `lo` to `hi`, both included.
struct Span {
  double lo = 0, hi = 0;
};

/// What a figure is to be seen against: "of 80 GB", "ideally 970 ms".
struct Reference {
  std::string_view words{};  ///< what stands in front of the other figure
  std::string_view key{};    ///< the key of the input or the output that is the other figure; empty: there is none
};

/// What is said of a field besides its label and its help. Strings are literals or outlive the field.
struct Details {
  Range range{};
  /// What a drag of the slider spans, within the range, which typing still reaches; both 0: all of it.
  Span typical{};
  /// Outputs: one of the at most four figures that stand large above the others. Inputs: one of the at most three that
  /// presentation shows.
  bool headline = false;
  Reference against{};  ///< headlines: stands on the card while the figure has not changed
  /// Inputs: more of it takes longer and shows the same (requests of a run, steps of a training). Random states take no
  /// more than the lab opens with.
  bool costly = false;
  bool binary = false;  ///< amounts of memory that people count in powers of two: KiB, MiB, GiB
  /// Reals: the range is what a slider offers, any number is allowed, inf and nan too (in JSON the texts "inf", "-inf",
  /// "nan").
  bool any_number = false;
  bool may_be_missing = false;  ///< outputs: NaN says that there is no number to give, null in JSON
  /// Not empty: such an output has no number, for this reason: "The chip has no FP8 unit."
  std::string_view absent{};
  /// Not empty: the value follows the learner from lab to lab under this name ("model", "workload.context"). Only
  /// chapters/mechanism/shared_choices.h sets it.
  std::string_view shared{};
  /// Choices that exist and are not offered here. `help` of each is the whole sentence that a scenario which names it
  /// gets. Must outlive the fields, as options must.
  const Choices* refused = nullptr;
  When when{};  ///< the field matters only while this holds
  /// For files and texts: the option of a choice without which they would not count. Whoever gives the input chooses it
  /// with that, by whatever way; it is `when` too.
  When mode{};
  /// For a text: the file input that takes what is given for it where that is the path of a file.
  std::string_view file_beside{};
  std::string_view formula{};    ///< outputs: how it is computed, in the notation of widgets/formula
  std::string_view source{};     ///< outputs: where the formula or figure comes from
  std::size_t max_items = 64;    ///< longest list or table
  std::size_t max_bytes = 4096;  ///< longest text
  Origin origin = Origin::set;   ///< inputs: where the value comes from

  bool has_typical() const { return typical.lo < typical.hi; }
  Span drag() const { return has_typical() ? typical : Span{range.lo, range.hi}; }
};

/// Everything a person may want to know of one field.
struct Spec : Details {
  std::string_view label, unit;
  std::string_view help;  ///< whole sentences
};

/// What an input that is a file takes.
struct FileSpec {
  FileKinds reads;  ///< what a file must be by its content that the input is offered
  std::string_view
      accepts;  ///< the usual suffixes of such files, "json.gz, sqlite", by which lists of files are kept short
  bool by_bytes = false;  ///< too large for a text: the app hands over FileInput::bytes instead
  /// It takes such files while its lab is open, or where it is named, and is offered none that come from elsewhere: for
  /// a lab beside the one that everybody would open them with.
  bool only_in_its_lab = false;

  /// Is it offered files of this kind? `open`: its lab is open.
  bool offered(FileKind kind, bool open) const { return reads.has(kind) && (open || !only_in_its_lab); }
};

/// A file that is too large for a text: known by path, size and time of change, read when a job asks. The app makes it.
class FileBytes {
 public:
  std::string path;
  std::uint64_t size_bytes = 0;  ///< as it is read: text is UTF-8 without a mark, whatever the file has
  std::uint64_t disk_bytes = 0;  ///< as it lies on disk
  std::int64_t modified_ns = 0;  ///< time of the last change, since some fixed day
  /// All bytes into `out`, from any thread. The file stays the one that was chosen, even when another has taken its
  /// name; one that was shortened in place is refused.
  std::function<models::Status(std::string& out)> read;
  /// `length` bytes from `offset` on, for files of which a part is enough; otherwise as `read`.
  std::function<models::Status(std::uint64_t offset, std::uint64_t length, std::string& out)> read_part;
  /// The same to where there is room for them, as models::trace::Bytes wants it. Null where the bytes come from no
  /// file.
  std::function<models::Status(std::uint64_t offset, char* to, std::size_t bytes)> read_at;

  /// What a lab made of the bytes (a parsed trace), kept with them so that a change of another input does not read the
  /// file again. `make` returns a shared_ptr<const T>; null (cancelled, unreadable) is not kept. One caller at a time
  /// makes it.
  template <class T, class Make>
  std::shared_ptr<const T> made(Make&& make) const {
    const std::lock_guard lock(mutex_);
    if (const auto* kept = std::any_cast<std::shared_ptr<const T>>(&made_); kept && *kept) return *kept;
    std::shared_ptr<const T> fresh = make();
    if (fresh) made_ = fresh;
    return fresh;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::any made_;
};

/// A file the learner chose. The shell reads it; compute sees only its text or, where the Spec says `by_bytes`, its
/// bytes.
struct FileInput {
  std::string path;
  std::string text;
  std::shared_ptr<const FileBytes> bytes;
  /// Bytes are the same when path, size and time of change are: nobody compares gigabytes at every frame.
  bool operator==(const FileInput& other) const;
};

/// One described input or output: what it is, and where its value lives.
class Field {
 public:
  std::string_view key;
  Kind kind{};
  Spec spec;
  FileSpec file_spec;                ///< what a file may be
  const Choices* options = nullptr;  ///< for choice and choices
  std::string_view group;            ///< heading under which the inspector shows it; empty: none

  /// Is it a number that a person reads and sets as one?
  bool is_number() const { return kind == Kind::real || kind == Kind::integer; }
  /// Is it a single value that `number` reads?
  bool is_scalar() const { return is_number() || kind == Kind::toggle || kind == Kind::choice; }

  // Each accessor is valid for the kinds named; others are a programming error (asserted).
  double number() const;            ///< real, integer, toggle (0 or 1), choice (index, -1 if unknown)
  void set_number(double v) const;  ///< real, integer (rounded), toggle (not 0), choice (index)
  double& real() const;
  std::int64_t& integer() const;
  bool& toggle() const;
  std::string& text() const;
  FileInput& file() const;
  std::vector<double>& reals() const;
  std::vector<std::string>& chosen() const;  ///< choices: ids
  std::string_view choice_id() const;
  bool set_choice_id(std::string_view id) const;  ///< false, and nothing changed, when there is no such option

  std::size_t table_size() const;
  void table_resize(std::size_t rows) const;
  void table_row(std::size_t row, Fields& out) const;  ///< describes one row's cells
  void table_columns(Fields& out) const;               ///< describes a default row (labels, units, ranges)

 private:
  friend class Fields;
  struct EnumAccess {
    int (*get)(const void*);
    void (*set)(void*, int);
  };
  struct TableAccess {
    std::size_t (*size)(const void*);
    void (*resize)(void*, std::size_t);
    void (*row)(void*, std::size_t, Fields&);
    void (*columns)(Fields&);
  };
  void* slot_ = nullptr;
  const EnumAccess* enum_ = nullptr;
  const TableAccess* table_ = nullptr;
};

/// Collects what `describe` says: of each field its key, where its value lives, its label, its help where there is any,
/// and details. A row of a table is described by `describe(Fields&, Row&)`, found by its type.
class Fields {
 public:
  void real(std::string_view key, double& slot, Label label, std::string_view help, const Details& details = {}) {
    add(key, Kind::real, &slot, label, help, details);
  }
  void real(std::string_view key, double& slot, Label label, const Details& details = {}) {
    real(key, slot, label, {}, details);
  }
  void integer(std::string_view key, std::int64_t& slot, Label label, std::string_view help,
               const Details& details = {}) {
    add(key, Kind::integer, &slot, label, help, details);
  }
  void integer(std::string_view key, std::int64_t& slot, Label label, const Details& details = {}) {
    integer(key, slot, label, {}, details);
  }
  void toggle(std::string_view key, bool& slot, Label label, std::string_view help, const Details& details = {}) {
    add(key, Kind::toggle, &slot, label, help, details);
  }
  void toggle(std::string_view key, bool& slot, Label label, const Details& details = {}) {
    toggle(key, slot, label, {}, details);
  }
  void text(std::string_view key, std::string& slot, Label label, std::string_view help, const Details& details = {}) {
    add(key, Kind::text, &slot, label, help, details);
  }
  void text(std::string_view key, std::string& slot, Label label, const Details& details = {}) {
    text(key, slot, label, {}, details);
  }
  void reals(std::string_view key, std::vector<double>& slot, Label label, std::string_view help,
             const Details& details = {}) {
    add(key, Kind::reals, &slot, label, help, details);
  }
  void reals(std::string_view key, std::vector<double>& slot, Label label, const Details& details = {}) {
    reals(key, slot, label, {}, details);
  }
  void file(std::string_view key, FileInput& slot, Label label, std::string_view help, const Details& details,
            const FileSpec& takes = {}) {
    add(key, Kind::file, &slot, label, help, details).file_spec = takes;
  }
  void file(std::string_view key, FileInput& slot, Label label, std::string_view help, const FileSpec& takes = {}) {
    file(key, slot, label, help, Details{}, takes);
  }
  /// One option, stored as its id.
  void choice(std::string_view key, std::string& slot, const Choices& options, Label label, std::string_view help,
              const Details& details = {}) {
    add(key, Kind::choice, &slot, label, help, details).options = &options;
  }
  /// One option, stored as an enumerator whose value is the option's index.
  template <class E>
  requires std::is_enum_v<E>
  void choice(std::string_view key, E& slot, const Choices& options, Label label, std::string_view help,
              const Details& details = {}) {
    static constexpr Field::EnumAccess access{[](const void* p) { return static_cast<int>(*static_cast<const E*>(p)); },
                                              [](void* p, int v) { *static_cast<E*>(p) = static_cast<E>(v); }};
    Field& f = add(key, Kind::choice, &slot, label, help, details);
    f.options = &options;
    f.enum_ = &access;
  }
  template <class Slot>
  void choice(std::string_view key, Slot& slot, const Choices& options, Label label, const Details& details = {}) {
    choice(key, slot, options, label, {}, details);
  }
  /// Any number of options, stored as their ids.
  void choices(std::string_view key, std::vector<std::string>& slot, const Choices& options, Label label,
               std::string_view help, const Details& details = {}) {
    add(key, Kind::choices, &slot, label, help, details).options = &options;
  }
  template <class Row>
  void table(std::string_view key, std::vector<Row>& slot, Label label, std::string_view help,
             const Details& details = {}) {
    static constexpr Field::TableAccess access{
        [](const void* p) { return static_cast<const std::vector<Row>*>(p)->size(); },
        [](void* p, std::size_t n) { static_cast<std::vector<Row>*>(p)->resize(n); },
        [](void* p, std::size_t i, Fields& out) { describe(out, (*static_cast<std::vector<Row>*>(p))[i]); },
        [](Fields& out) {
          // An empty table asks every frame: the row made last time serves again.
          if (out.scratch_type_ == &type_tag<Row>) {
            *static_cast<Row*>(out.scratch_.get()) = Row();
          } else {
            out.scratch_ = std::make_shared<Row>();
            out.scratch_type_ = &type_tag<Row>;
          }
          describe(out, *static_cast<Row*>(out.scratch_.get()));
        }};
    add(key, Kind::table, &slot, label, help, details).table_ = &access;
  }
  template <class Row>
  void table(std::string_view key, std::vector<Row>& slot, Label label, const Details& details = {}) {
    table(key, slot, label, {}, details);
  }

  /// Fields that follow stand under this heading in the inspector, until the next one. A literal.
  void group(std::string_view title) { group_ = title; }

  std::span<const Field> all() const { return fields_; }
  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }
  const Field* find(std::string_view key) const;
  void clear() {
    fields_.clear();
    group_ = {};
  }

 private:
  Field& add(std::string_view key, Kind kind, void* slot, Label label, std::string_view help, const Details& details);
  std::vector<Field> fields_;
  std::string_view group_;
  template <class Row>
  static constexpr char type_tag = 0;
  std::shared_ptr<void> scratch_;
  const char* scratch_type_ = nullptr;  ///< which Row `scratch_` is
};

/// Does the condition hold for these inputs? One on a key that is not there, or on a kind that cannot be asked, does.
bool holds(const When& when, const Fields& inputs);

}  // namespace chapters
