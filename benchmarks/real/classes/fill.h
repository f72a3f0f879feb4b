/* Arrays that the kernels begin with. */
#ifndef FILL_H
#define FILL_H

#include "real.h"

int32_t *draws(long count, uint64_t bound, uint64_t seed); /* whole numbers below `bound` */
int32_t *shuffled(long count, uint64_t seed);              /* the numbers from 0 on in any order */
uint8_t *bytes(long count, uint64_t bound, uint64_t seed);
float *floats(long count, uint64_t seed); /* between 0.5 and 1.5 */

#endif
