#include <cstdio>

#include "app/version.h"

int main() { std::printf("ridgeline %s\n", app::version()); }
