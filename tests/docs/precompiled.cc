// The only file of its program that reads the precompiled header, which the others take from there: the
// program itself is compiled as it stands.
