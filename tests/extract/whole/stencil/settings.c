#include <string.h>

#include "grid.h"

/* Reads `-s SIZE -i ITERATIONS`. */
Settings parse(int argc, char **argv) {
  Settings found = {16, 10};
  for (int i = 1; i < argc; i += 2) {
    CHECK(i + 1 < argc);
    int value = atoi(argv[i + 1]);
    if (strcmp(argv[i], "-s") == 0)
      found.size = value;
    else if (strcmp(argv[i], "-i") == 0)
      found.iterations = value;
  }
  return found;
}

void start_timer(void) {
  static int starts = 0;
  if (starts == 0) printf("first\n");
  starts++;
}
