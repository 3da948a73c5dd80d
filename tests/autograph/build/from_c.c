double from_c(void) {
  int class = 2;
  return class;
}
