rw::Tensor precompiled(rw::Tensor x) {
  rw::Tensor y = x * factor();
  while (y < 10 && x > 0) y = y * factor();
  return y;
}
