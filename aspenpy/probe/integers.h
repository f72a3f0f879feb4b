/* Whole numbers, branches and atomic operations: see integers.c. */
#ifndef INTEGERS_H
#define INTEGERS_H

/* Prints `NAME_throughput VALUE` or `NAME_latency VALUE` for each, in operations a second and seconds. */
void integers(double seconds_of_each);

/* The same of atomic operations of one thread, and of a line that goes between two of so many. */
void atomics(int threads, double seconds_of_each);

#endif
