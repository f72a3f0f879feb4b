/* Deriche's recursive edge filter, in single precision. */
#include <math.h>
#ifndef N
#define N 20
#endif
#define W (N + 4)
#define H N
float in[W][H], out[W][H], forward[W][H], backward[W][H];

void kernel(int w, int h, float alpha)
{
  float k = (1.0f - expf(-alpha)) * (1.0f - expf(-alpha)) / (1.0f + 2.0f * alpha * expf(-alpha) - expf(2.0f * alpha));
  float a1 = k, a2 = k * expf(-alpha) * (alpha - 1.0f), a3 = k * expf(-alpha) * (alpha + 1.0f), a4 = -k * expf(-2.0f * alpha);
  float b1 = powf(2.0f, -alpha), b2 = -expf(-2.0f * alpha), c1 = 1, c2 = 1;
  float xm1, ym1, ym2, xp1, xp2, yp1, yp2;
  for (int i = 0; i < w; i++) {
    ym1 = 0.0f, ym2 = 0.0f, xm1 = 0.0f;
    for (int j = 0; j < h; j++) {
      forward[i][j] = a1 * in[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
      xm1 = in[i][j];
      ym2 = ym1;
      ym1 = forward[i][j];
    }
  }
  for (int i = 0; i < w; i++) {
    yp1 = yp2 = xp1 = xp2 = 0.0f;
    for (int j = h - 1; j >= 0; j--) {
      backward[i][j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
      xp2 = xp1;
      xp1 = in[i][j];
      yp2 = yp1;
      yp1 = backward[i][j];
    }
  }
  for (int i = 0; i < w; i++)
    for (int j = 0; j < h; j++)
      out[i][j] = c1 * (forward[i][j] + backward[i][j]);
  for (int j = 0; j < h; j++) {
    float tm1 = 0, ym1 = 0, ym2 = 0;
    for (int i = 0; i < w; i++) {
      forward[i][j] = a1 * out[i][j] + a2 * tm1 + b1 * ym1 + b2 * ym2;
      tm1 = out[i][j];
      ym2 = ym1;
      ym1 = forward[i][j];
    }
  }
  for (int j = 0; j < h; j++) {
    float tp1 = 0, tp2 = 0, yp1 = 0, yp2 = 0;
    for (int i = w - 1; i >= 0; i--) {
      backward[i][j] = a3 * tp1 + a4 * tp2 + b1 * yp1 + b2 * yp2;
      tp2 = tp1;
      tp1 = out[i][j];
      yp2 = yp1;
      yp1 = backward[i][j];
    }
  }
  for (int i = 0; i < w; i++)
    for (int j = 0; j < h; j++)
      out[i][j] = c2 * (forward[i][j] + backward[i][j]);
}

int main(void)
{
  kernel(W, H, 0.25f);
  return out[1][1] > 0;
}
