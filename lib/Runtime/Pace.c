/* Whether a session's threads share a run, or the caller's computes it alone.
 *
 * A short run takes longer with two threads than with one where their cores share no cache (virtual machines are on
 * such cores at some times, and at others not). What runs take says so: a few are computed alone, for comparison, and
 * again when those that are shared take as long; while runs are computed alone, sharing is tried now and then. */
#include "Internal.h"

enum { settling, trying_alone, shared, trying_shared, alone };

/* Runs that settle, runs that are compared with each other, slow ones in a row before others are tried, and runs from
 * one trial to the next, of those that are shared (the machine may have become faster) and of those that are not. */
enum { settle_runs = 8, trial_runs = 3, slow_runs = 8, shared_runs = 1000, alone_runs = 24 };

/* Longer runs are mostly computation, which threads always share well. */
static const uint64_t longest_ns = 20000000;

bool strata_pace_shares(strata_pace *pace, uint64_t sizes) {
  if (pace->sizes != sizes)
    *pace = (strata_pace){.sizes = sizes};
  return pace->state != trying_alone && pace->state != alone;
}

static void enter(strata_pace *pace, int state) {
  pace->state = state;
  pace->runs = pace->slow = 0;
}

/* Towards the median of what the last runs took: many that are a little slow count, not one that was interrupted. */
static void follow(uint64_t *median, uint64_t ns) {
  if (ns > *median)
    *median += *median / 32;
  else
    *median -= *median / 32;
}

static void least(uint64_t *best, uint64_t ns, bool first) {
  if (first || ns < *best)
    *best = ns;
}

/* Sharing has to be worth it. */
static void decide(strata_pace *pace) { enter(pace, pace->shared_ns < pace->alone_ns / 16 * 15 ? shared : alone); }

void strata_pace_took(strata_pace *pace, uint64_t ns) {
  switch (pace->state) {
  case settling:
    least(&pace->shared_ns, ns, pace->runs == 0);
    if (++pace->runs >= settle_runs && pace->shared_ns < longest_ns)
      enter(pace, trying_alone);
    return;
  case trying_alone:
  case trying_shared:
    least(pace->state == trying_alone ? &pace->alone_ns : &pace->shared_ns, ns, pace->runs == 0);
    if (++pace->runs == trial_runs)
      decide(pace);
    return;
  case shared:
    follow(&pace->shared_ns, ns);
    pace->slow = pace->shared_ns < pace->alone_ns ? 0 : pace->slow + 1;
    if (pace->slow == slow_runs || ++pace->runs == shared_runs)
      enter(pace, trying_alone);
    return;
  case alone:
    follow(&pace->alone_ns, ns);
    if (++pace->runs == alone_runs)
      enter(pace, trying_shared);
    return;
  }
}
