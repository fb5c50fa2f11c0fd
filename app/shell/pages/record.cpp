#include "app/content/record.h"

#include <chrono>

#include "app/platform/file.h"
#include "app/shell/shell.h"

namespace app {

void ask_record(Shell& shell) { ask_where(shell, ExportKind::record, "ridgeline-record.html"); }

void save_record(Shell& shell, const std::string& path) {
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto written = write_file(path, record_html(shell.workspace.content, shell.workspace.progress, now));
  if (written)
    say_saved(shell, path);
  else
    shell.workspace.say_failure(written);
}

}  // namespace app
