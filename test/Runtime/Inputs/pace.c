#include "Internal.h"

#include <stdio.h>

static int failures;

/* How many of `runs` are shared, if they take so long. Every `each`th one is interrupted. */
static int shared(strata_pace *pace, int runs, uint64_t sizes, uint64_t shared_ns, uint64_t alone_ns, int each) {
  int count = 0;
  for (int i = 1; i <= runs; ++i) {
    bool shares = strata_pace_shares(pace, sizes);
    count += shares;
    strata_pace_took(pace, (shares ? shared_ns : alone_ns) * (each && i % each == 0 ? 20 : 1));
  }
  return count;
}

static void expect(const char *what, int count, int least, int most) {
  if (count >= least && count <= most)
    return;
  printf("%s: %d shared, not %d to %d\n", what, count, least, most);
  ++failures;
}

int main(void) {
  strata_pace pace = {0};
  expect("threads that help", shared(&pace, 1000, 1, 100000, 180000, 0), 997, 997);
  expect("interrupted", shared(&pace, 1000, 1, 100000, 180000, 5), 990, 1000);
  expect("the machine slows down", shared(&pace, 1000, 1, 200000, 360000, 0), 990, 1000);
  expect("and is as fast as before", shared(&pace, 2000, 1, 100000, 180000, 0), 1990, 2000);
  expect("threads that hinder", shared(&pace, 1000, 1, 210000, 180000, 0), 100, 250);
  expect("still", shared(&pace, 1000, 1, 210000, 180000, 0), 100, 125);
  expect("threads that help again", shared(&pace, 1000, 1, 100000, 180000, 0), 970, 1000);
  expect("other sizes", shared(&pace, 8, 2, 180000, 180000, 0), 8, 8);
  pace = (strata_pace){0};
  expect("long runs", shared(&pace, 100, 1, 30000000, 20000000, 0), 100, 100);
  expect("sizes that change each time", shared(&pace, 1, 3, 200000, 100000, 0), 1, 1);
  for (uint64_t i = 0; i < 100; ++i)
    expect("sizes that change each time", shared(&pace, 1, i % 7, 200000, 100000, 0), 1, 1);
  printf(failures ? "pace: failed\n" : "pace: ok\n");
  return failures != 0;
}
