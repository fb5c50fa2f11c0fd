#include <iostream>
#include <string>
#include <vector>

#include "app/cli/cli.h"

int main(int argc, char** argv) {
  return app::cli::run(std::vector<std::string>(argv + 1, argv + argc), {std::cout, std::cerr});
}
