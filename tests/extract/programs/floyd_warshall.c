/* The lengths of shortest paths between all nodes. */
#ifndef N
#define N 18
#endif
int path[N][N];

void kernel(int n)
{
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
}

int main(void)
{
  for (int i = 0; i < N * N; i++)
    path[i / N][i % N] = (i * 7) % 13;
  kernel(N);
  return path[1][1];
}
