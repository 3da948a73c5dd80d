#pragma once
inline double factor() { return 2; }
