#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/workspace/file_look.h"
#include "app/workspace/jobs.h"
#include "app/workspace/message.h"

namespace app {

class Workspace;

/// A document of somebody else that names files: they are not touched before the person agrees.
struct AskedFiles {
  std::string origin;              ///< what names them: a file's name, or "The link"
  std::vector<std::string> files;  ///< whole paths
  std::variant<FoundScenario, FoundLesson> document;
};
/// A file that several labs take.
struct AskedReader {
  std::string name, path;  ///< `name` is fit to be shown
  FoundReaders found;
};
/// With the files, without them, or not at all.
enum class FilesAnswer : unsigned char { open, leave_out, cancel };

/// The one way in for files, chosen or dropped: a scenario or a lesson, a model or chips for the catalog, a file for
/// the open lab when it takes it, or one for the lab that does; where several do, the person says which. A job reads
/// and tries them, one after another; what is open changes in `update`, on the window's thread, and stays as it is
/// where a file is refused.
class FileOpening {
 public:
  explicit FileOpening(Workspace& workspace) : workspace_(workspace) {}

  /// Begins to open them and returns at once. What is being opened is given up. Files that belong together, such as one
  /// of each rank, or a folder of them, are opened as one set; others one after another.
  void open(std::vector<std::string> paths);
  void open(const std::string& path) { open(std::vector<std::string>{path}); }
  /// Opens a scenario that names no files here and now; else it waits in `asked`. Fails when it cannot be opened.
  models::Status open_scenario(FoundScenario scenario, std::string origin);

  bool busy() const { return static_cast<bool>(job_); }
  double fraction() const { return job_.fraction(); }  ///< 0 to 1
  const std::string& name() const { return name_; }    ///< what is being opened, fit to be shown
  void stop();
  /// Once a frame: takes over what has been read, and says what was refused with what could be done instead.
  void update();

  /// For callers without a window: waits until all is opened or refused, and says so as frames would.
  void wait();
  /// Opens it and waits. Fails with what labs say of it; `remedy` then gets what could be done instead.
  models::Status open_and_wait(const std::string& path, Action* remedy = nullptr);

  const std::optional<AskedFiles>& asked() const { return asked_; }
  /// Answers the question that waits in `asked`; what it opens may take a while, as any file.
  void answer(FilesAnswer answer);

  bool asks() const { return asked_ || asked_reader_; }  ///< a question of this waits for an answer
  const std::optional<AskedReader>& asked_reader() const { return asked_reader_; }
  /// Opens the file that waits in `asked_reader` in the lab at this place of its list; beyond its end in none.
  void choose_reader(std::size_t reader);

  /// The suffixes of files that labs read, ".json" and so on, scenarios among them.
  std::vector<std::string> suffixes() const;
  /// Titles of the labs that read files of this name's suffix: "Trace viewer"; empty when none does.
  std::string readers_of(std::string_view path) const;

 private:
  struct Read;
  void submit(std::string name, std::string path, std::function<void(Read&, chapters::Progress&)> work);
  void wait_for(std::vector<std::string> paths);
  std::vector<FileTaker> takers() const;
  void look_at(const std::string& path);
  void look_at_all(std::vector<std::string> paths);
  void look_at_next();
  models::Status take(Action* remedy);
  void take_input(FoundInput& found, const std::string& path);
  void note_opened(const std::string& path);
  models::Status take_document(FoundScenario scenario, const Read& read);
  models::Status take_document(FoundLesson lesson, std::string origin);
  void take_own(FoundOwn own, const std::string& path);
  /// Takes what the scenario carries, so that its inputs can name that.
  models::Status bring_own(FoundScenario& scenario);
  void load_lesson(FoundLesson lesson, bool with_files);

  Workspace& workspace_;
  std::vector<std::string> waiting_;  ///< paths, the last one next
  std::string name_, path_;  ///< name and path of what the job reads; `path_` is empty for what is no file of its own
  Job job_;
  std::shared_ptr<Read> read_;  ///< what the job writes
  std::optional<AskedFiles> asked_;
  std::optional<AskedReader> asked_reader_;
};

}  // namespace app
