#include "app/cli/cli.h"

int main(int argc, char** argv) { return app::cli::run_process(argc, argv); }
