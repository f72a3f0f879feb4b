double y[10];
int main(void) { return y[0] > 0; }
