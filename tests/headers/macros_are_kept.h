// The headers leave the user's macros as they were.
#if !defined(min) || !defined(max) || !defined(None)
#error "a macro of the user's is gone"
#endif
static_assert(min(3, 4) == 3 && max(3, 4) == 4 && None == 0);
