/* Linear recurrences h[t] = a[t] h[t - 1] + b[t] over float arrays of batch x time x channels, for train.py. */

void forward(const float *a, const float *b, float *h, long batch, long time, long channels) {
  long size = time * channels;
  for (long n = 0; n < batch; n++, a += size, b += size, h += size)
    for (long i = 0; i < size; i++)
      h[i] = i < channels ? b[i] : a[i] * h[i - channels] + b[i];
}

/* Gradients of a and b from the gradient of h: what reaches b[t] is what reaches h[t] directly and through h[t + 1]. */
void backward(const float *a, const float *h, const float *dh, float *da, float *db, long batch, long time,
              long channels) {
  long size = time * channels;
  for (long n = 0; n < batch; n++, a += size, h += size, dh += size, da += size, db += size)
    for (long i = size - 1; i >= 0; i--) {
      db[i] = dh[i] + (i + channels < size ? a[i + channels] * db[i + channels] : 0);
      da[i] = i < channels ? 0 : db[i] * h[i - channels];
    }
}
