// Runs a model that is linked in, with the header that came with it.
#include "embedded.h"

#include <stdio.h>

int main(void) {
  strata_model *model;
  strata_session *session;
  float x[4] = {1, 2, 3, 4};
  strata_tensor in = {.data = x, .dtype = STRATA_FLOAT, .rank = 1, .shape = (int64_t[]){4}}, out[embedded_num_outputs];
  if (strata_model_from_descriptor(&embedded_model, &model) || strata_session_create(model, NULL, &session) ||
      strata_session_run(session, &in, embedded_num_inputs, out, embedded_num_outputs))
    return puts(strata_last_error()), 1;
  const float *y = out[0].data;
  printf("%s:%s: %g %g %g %g\n", strata_model_get_descriptor(model)->name, strata_model_input(model, 0)->name, y[0], y[1],
         y[2], y[3]);
  out[0].release(&out[0]);
  strata_session_free(session);
  strata_model_free(model);
}
