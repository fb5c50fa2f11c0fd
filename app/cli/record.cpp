#include "app/content/record.h"

#include <chrono>
#include <ostream>

#include "app/cli/cli.h"
#include "app/platform/file.h"
#include "app/platform/paths.h"

namespace app::cli {

int record(const Arguments& a, const Streams& s) {
  if (!a.has("-o")) return complain(s, "record needs -o FILE.html: where the page is to be written.");
  const auto assets = load_assets();
  if (!assets) return complain(s, assets.error);
  const auto folders = user_paths();
  if (!folders) return complain(s, folders.error);
  store::Progress progress;
  if (const auto read = store::load(folders->data / "progress.json", progress); !read.notice.empty())
    s.error << read.notice << "\n";
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto written = write_file(a.value("-o"), record_html(load_content(*assets), progress, now));
  if (!written) return complain(s, written.error);
  s.out << a.value("-o") << "\n";
  return 0;
}

}  // namespace app::cli
