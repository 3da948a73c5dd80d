// All scalar math: see primitives.h for the contract of these functions.
#pragma once

#include "rewind/base/math/activation.h"
#include "rewind/base/math/bessel.h"
#include "rewind/base/math/bessel_j.h"
#include "rewind/base/math/erf.h"
#include "rewind/base/math/erf_inverse.h"
#include "rewind/base/math/exp_log.h"
#include "rewind/base/math/gamma.h"
#include "rewind/base/math/hyperbolic.h"
#include "rewind/base/math/incomplete.h"
#include "rewind/base/math/integer.h"
#include "rewind/base/math/integrals.h"
#include "rewind/base/math/inverse_trig.h"
#include "rewind/base/math/pow.h"
#include "rewind/base/math/round.h"
#include "rewind/base/math/trig.h"
#include "rewind/base/math/zeta.h"
