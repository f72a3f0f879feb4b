double x[10];
int main(void) { return x[0] > 0; }
