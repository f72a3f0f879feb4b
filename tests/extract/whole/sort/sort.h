int merge_sort(int n, double *x, double *spare);
int heap_sort(int n, double *x);
double next_value(void);
