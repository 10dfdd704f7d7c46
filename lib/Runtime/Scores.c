/* Class probabilities by pairwise coupling: Wu, Lin, Weng: Probability estimates for multi-class classification by
 * pairwise coupling. JMLR 5 (2004), the second method, as libsvm uses it. */
#include "Internal.h"

#include <math.h>

/* p[k] from r[k][k], the estimates of P(i | i or j); q[k][k] and qp[k] are scratch. */
static void couple(int64_t k, const double *r, double *q, double *qp, double *p) {
  int64_t rounds = k > 100 ? k : 100;
  double tolerance = 0.005 / (double)k;
  for (int64_t t = 0; t < k; ++t) {
    p[t] = 1.0 / (double)k;
    q[t * k + t] = 0;
    for (int64_t j = 0; j < k; ++j)
      if (j != t) {
        q[t * k + t] += r[j * k + t] * r[j * k + t];
        q[t * k + j] = -r[j * k + t] * r[t * k + j];
      }
  }
  while (rounds-- > 0) {
    double pqp = 0, error = 0;
    for (int64_t t = 0; t < k; ++t) {
      qp[t] = 0;
      for (int64_t j = 0; j < k; ++j)
        qp[t] += q[t * k + j] * p[j];
      pqp += p[t] * qp[t];
    }
    for (int64_t t = 0; t < k; ++t)
      error = fmax(error, fabs(qp[t] - pqp));
    if (error < tolerance)
      break;
    for (int64_t t = 0; t < k; ++t) {
      double step = (pqp - qp[t]) / q[t * k + t];
      p[t] += step;
      pqp = (pqp + step * (step * q[t * k + t] + 2 * qp[t])) / ((1 + step) * (1 + step));
      for (int64_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + step * q[t * k + j]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
}

static const double *doubles_of(const void *tensor) {
  const strata_memref *m = tensor;
  return (const double *)m->aligned + m->offset;
}

void strata_rt_svm_probabilities(const void *decisions, const void *a, const void *b, void *out) {
  const strata_memref *rows = decisions;
  strata_memref *result = out;
  int64_t k = result->sizes[1], pairs = rows->sizes[1];
  const double *factor = doubles_of(a), *term = doubles_of(b);
  double *scratch = strata_rt_alloc((uint64_t)(2 * k * k + k) * sizeof(double), 64);
  double *r = scratch, *q = r + k * k, *qp = q + k * k;
  for (int64_t n = 0; n < rows->sizes[0]; ++n) {
    const double *decision = doubles_of(decisions) + n * pairs;
    for (int64_t i = 0; i < k; ++i)
      for (int64_t j = i + 1; j < k; ++j, ++decision) {
        int64_t pair = decision - (doubles_of(decisions) + n * pairs);
        double p = 1 / (1 + exp(*decision * factor[pair] + term[pair]));
        p = fmin(fmax(p, 1e-7), 1 - 1e-7);
        r[i * k + j] = p;
        r[j * k + i] = 1 - p;
      }
    couple(k, r, q, qp, (double *)result->aligned + result->offset + n * k);
  }
  strata_rt_free(scratch);
}
