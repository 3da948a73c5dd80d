rw::Tensor reused(rw::Tensor x) {
  int steps = 0;
  for (rw::Tensor i : rw::range(3))
    if (rw::cast(i, rw::float32) < x - 1) ++steps;
  return x + steps;
}
