#!/usr/bin/env python3
"""Fits the polynomials of rewind/base/math (needs mpmath).

fit_math.py NAME...   prints the coefficients of the named fits (all without a name), lowest order first,
and the weighted minimax error in bits. A fit minimises max |w(t) (f(t) - p(t))| over an interval (Remez).
"""
import sys
from mpmath import mp, mpf

mp.dps = 60
FITS = {}


def fit(lo, hi, *variants, weight=lambda t: mpf(1)):
    """Registers f on [lo, hi]; variants are (suffix, degree, printed digits)."""

    def register(f):
        for suffix, degree, digits in variants:
            FITS[f.__name__ + suffix] = (f, weight, mpf(lo), mpf(hi), degree, digits)
        return f

    return register


def remez(f, w, lo, hi, degree, rounds=12):
    n = degree + 2
    mid, half = (lo + hi) / 2, (hi - lo) / 2
    count = 24 * n + 1
    grid = [mid - half * mp.cos(mp.pi * (i + mpf(1) / 2) / count) for i in range(count)]
    fs, ws = [f(t) for t in grid], [w(t) for t in grid]
    nodes = [min(count - 1, int((1 - mp.cos(mp.pi * mpf(i) / (n - 1))) / 2 * (count - 1))) for i in range(n)]
    nodes = [round(i * (count - 1) / (n - 1)) for i in range(n)]
    best = None
    for _ in range(rounds):
        a = mp.matrix(n, n)
        b = mp.matrix(n, 1)
        for row, i in enumerate(nodes):
            u = (grid[i] - mid) / half
            power = mpf(1)
            for c in range(degree + 1):
                a[row, c] = power
                power *= u
            a[row, degree + 1] = (-1) ** row / max(abs(ws[i]), mpf(10) ** -30)
            b[row] = fs[i]
        x = mp.lu_solve(a, b)
        err = []
        for i, t in enumerate(grid):
            u = (t - mid) / half
            p = mpf(0)
            for c in range(degree, -1, -1):
                p = p * u + x[c]
            err.append((fs[i] - p) * ws[i])
        worst = max(abs(e) for e in err)
        if best is None or worst < best[0]:
            best = (worst, [x[c] for c in range(degree + 1)])
        # Exchange: the largest error of each run of one sign, then drop small ends down to n points.
        peaks = []
        for i, e in enumerate(err):
            if peaks and (e >= 0) == (err[peaks[-1]] >= 0):
                if abs(e) > abs(err[peaks[-1]]):
                    peaks[-1] = i
            else:
                peaks.append(i)
        while len(peaks) > n:
            peaks.pop(0 if abs(err[peaks[0]]) < abs(err[peaks[-1]]) else -1)
        if len(peaks) < n or peaks == nodes:
            break
        nodes = peaks
    # From powers of u = (t - mid) / half to powers of t.
    worst, c = best
    out = [mpf(0)]
    for k in reversed(c):
        out = [mpf(0)] + [v / half for v in out]
        for i in range(len(out) - 1):
            out[i] -= out[i + 1] * mid
        out[0] += k
    return worst, out[: degree + 1]


LN2 = mp.log(2)
SQRT2 = mp.sqrt(2)


# exp_log.h
@fit(-LN2 / 2 * 1.01, LN2 / 2 * 1.01, ("_float", 4, 9), ("_double", 10, 17), weight=lambda t: t * t)
def exp_tail(t):  # e^t = 1 + t + t^2 p(t)
    return (mp.expm1(t) - t) / (t * t) if abs(t) > 1e-25 else mpf(1) / 2


@fit(1 / SQRT2 - 1, SQRT2 - 1, ("_float", 7, 9), weight=lambda t: t**3 / mp.log1p(t))
def log_tail(t):  # log(1 + t) = t - t^2 / 2 + t^3 p(t)
    return (mp.log1p(t) - t + t * t / 2) / t**3


@fit(0, (SQRT2 - 1) ** 2 / (SQRT2 + 1) ** 2, ("_double", 7, 17), weight=lambda z: z)
def log_ratio(z):  # 2 atanh(s) = 2 s + s z p(z), z = s^2
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) / s - 2) / z if z else mpf(2) / 3


# hyperbolic.h
@fit(0, mpf("0.55") ** 2, ("_float", 4, 9), ("_double", 10, 17), weight=lambda z: z)
def tanh_near(z):  # tanh(x) = x + x z p(z), z = x^2
    x = mp.sqrt(z)
    return (mp.tanh(x) / x - 1) / z


# trig.h
@fit(0, (mp.pi / 4 * 1.001) ** 2, ("_float", 2, 9), ("_double", 5, 17), weight=lambda z: z)
def sin_tail(z):  # sin(r) = r + r z p(z), z = r^2
    r = mp.sqrt(z)
    return (mp.sin(r) / r - 1) / z


@fit(0, (mp.pi / 4 * 1.001) ** 2, ("_float", 2, 9), ("_double", 5, 17), weight=lambda z: z * z)
def cos_tail(z):  # cos(r) = 1 - z / 2 + z^2 p(z)
    r = mp.sqrt(z)
    return (mp.cos(r) - 1 + z / 2) / (z * z)


# inverse_trig.h
@fit(0, mp.tan(mp.pi / 8) ** 2 * 1.001, ("_float", 4, 9), ("_double", 11, 17), weight=lambda z: z)
def atan_tail(z):  # atan(t) = t + t z p(z), z = t^2
    t = mp.sqrt(z)
    return (mp.atan(t) / t - 1) / z


@fit(0, 0.25, ("_float", 4, 9), ("_double", 12, 17), weight=lambda z: z)
def asin_tail(z):  # asin(x) = x + x z p(z), z = x^2
    x = mp.sqrt(z)
    return (mp.asin(x) / x - 1) / z


# erf.h
@fit(0, 1, ("_float", 6, 9), ("_double", 12, 17))
def erf_near(z):  # erf(x) = x + x p(x^2), |x| <= 1
    x = mp.sqrt(z)
    return mp.erf(x) / x - 1


@fit(0.9, 4, ("_float", 6, 9), weight=lambda x: mp.erfc(x))
def erf_far(x):  # erf(x) = 1 - exp(p(x))
    return mp.log(mp.erfc(x))


@fit(-mpf(7) / 9, mpf(12) / 16, ("_float", 10, 9), ("_double", 22, 17))
def erfc_scaled(t):  # (1 + 2 x) e^(x^2) erfc(x), x = 4 (1 + t) / (1 - t)
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


# pow.h
@fit(0, (SQRT2 - 1) ** 2 / (SQRT2 + 1) ** 2, ("_float", 4, 17))
def log2_ratio(z):  # log2((1 + s) / (1 - s)) = s p(z), z = s^2
    s = mp.sqrt(z)
    return 2 * mp.atanh(s) / s / LN2


@fit(0, (SQRT2 - 1) ** 2 / (SQRT2 + 1) ** 2, ("_double", 6, 17), weight=lambda z: z * z)
def log_deep(z):  # 2 atanh(s) = 2 s + s z (2/3 + z p(z)), z = s^2
    s = mp.sqrt(z)
    return ((2 * mp.atanh(s) / s - 2) / z - mpf(2) / 3) / z


@fit(-0.5, 0.5, ("_float", 6, 17))
def exp2_fraction(t):
    return mp.mpf(2) ** t


# gamma.h
@fit(-0.5, 0.5, ("", 22, 17))
def lgamma_middle(c):  # lgamma(y) = (y - 1) (y - 2) p(y - 3/2), 1 <= y <= 2
    y = c + mpf(3) / 2
    return mp.loggamma(y) / ((y - 1) * (y - 2))


# erf_inverse.h
def erfinv_factor(w):
    """erfinv(x) / x where 1 - x^2 = e^-w."""
    if w == 0:
        return mp.sqrt(mp.pi) / 2
    y = mp.sqrt(w) * mpf("0.9")
    for _ in range(60):
        below, above = mp.erfc(y), 1 + mp.erf(y)
        slope = -2 / mp.sqrt(mp.pi) * mp.exp(-y * y) * (1 / below - 1 / above)
        step = (mp.log(below) + mp.log(above) + w) / slope
        y -= step
        if abs(step) < abs(y) * mpf(10) ** -45:
            break
    return y / mp.erf(y)


@fit(-2.5, 2.5, ("", 19, 17), weight=lambda t: 1 / mp.sqrt(3.5 + t))
def erfinv_near(t):  # far-out variables are centred, or the polynomial would cancel
    return erfinv_factor(t + 2.5)


@fit(mp.sqrt(5) - 3.125, 0.875, ("", 19, 17), weight=lambda t: 1 / (t + 3.125))
def erfinv_far(t):
    return erfinv_factor((t + 3.125) ** 2)


@fit(-2, 2, ("", 19, 17), weight=lambda t: 1 / (t + 6))
def erfinv_farther(t):
    return erfinv_factor((t + 6) ** 2)


@fit(1 / mpf(28) - 0.0625, 0.0625, ("", 17, 17))
def erfinv_last(t):  # divided by s = 1 / u
    u = t + 0.0625
    return erfinv_factor(1 / (u * u)) * u


# bessel.h
@fit(0, 16, ("", 15, 17), weight=lambda z: 1 / mp.besseli(0, 2 * mp.sqrt(z)))
def i0_near(z):  # z = (x / 2)^2, x <= 8
    return mp.besseli(0, 2 * mp.sqrt(z))


@fit(0, 16, ("", 15, 17), weight=lambda z: mp.sqrt(z) / mp.besseli(1, 2 * mp.sqrt(z)))
def i1_near(z):  # divided by x / 2
    return mp.besseli(1, 2 * mp.sqrt(z)) / mp.sqrt(z) if z else mpf(1)


@fit(mpf(10) ** -9 - 0.0625, 0.0625, ("", 21, 17))
def i0_far(t):  # sqrt(x) e^-x I0(x), u = 1 / x
    u = t + 0.0625
    return mp.sqrt(1 / u) * mp.exp(-1 / u) * mp.besseli(0, 1 / u)


@fit(mpf(10) ** -9 - 0.0625, 0.0625, ("", 21, 17))
def i1_far(t):
    u = t + 0.0625
    return mp.sqrt(1 / u) * mp.exp(-1 / u) * mp.besseli(1, 1 / u)


@fit(0, 1, ("", 9, 17))
def k0_near(z):  # K0(x) + log(x / 2) I0(x), z = (x / 2)^2, x <= 2
    x = 2 * mp.sqrt(z)
    return mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x)


@fit(0, 1, ("", 9, 17))
def k1_near(z):  # (K1(x) - 1 / x - log(x / 2) I1(x)) 2 / x
    x = 2 * mp.sqrt(z)
    return (mp.besselk(1, x) - 1 / x - mp.log(x / 2) * mp.besseli(1, x)) * 2 / x


@fit(mpf(10) ** -9 - 0.25, 0.25, ("", 22, 17))
def k0_far(t):  # sqrt(x) e^x K0(x), u = 1 / x
    u = t + 0.25
    return mp.sqrt(1 / u) * mp.exp(1 / u) * mp.besselk(0, 1 / u)


@fit(mpf(10) ** -9 - 0.25, 0.25, ("", 22, 17))
def k1_far(t):
    u = t + 0.25
    return mp.sqrt(1 / u) * mp.exp(1 / u) * mp.besselk(1, 1 / u)


# bessel_j.h
@fit(-32, 32, ("", 15, 17))
def j0_near(t):  # in x^2 - 32, x <= 8
    return mp.besselj(0, mp.sqrt(t + 32))


@fit(-32, 32, ("", 15, 17))
def j1_near(t):  # divided by x
    x = mp.sqrt(t + 32)
    return mp.besselj(1, x) / x


@fit(-32, 32, ("", 15, 17))
def y0_near(t):
    x = mp.sqrt(t + 32)
    return mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x)


@fit(-32, 32, ("", 15, 17))
def y1_near(t):
    x = mp.sqrt(t + 32)
    return (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x


def bessel_phase(order, v, cosine):
    """J = sqrt(2 / (pi x)) (P cos c - Q sin c), Y = ... (P sin c + Q cos c), c = x - (2 order + 1) pi/4."""
    x = 1 / mp.sqrt(v)
    c = x - (2 * order + 1) * mp.pi / 4
    j, y = mp.besselj(order, x), mp.bessely(order, x)
    part = j * mp.cos(c) + y * mp.sin(c) if cosine else (y * mp.cos(c) - j * mp.sin(c)) * x
    return mp.sqrt(mp.pi * x / 2) * part


@fit(mpf(10) ** -9 - mpf(1) / 128, mpf(1) / 128, ("", 10, 17))
def j0_cosine(t):  # P in 1 / x^2 - 1/128
    return bessel_phase(0, t + mpf(1) / 128, True)


@fit(mpf(10) ** -9 - mpf(1) / 128, mpf(1) / 128, ("", 10, 17))
def j0_sine(t):  # Q x
    return bessel_phase(0, t + mpf(1) / 128, False)


@fit(mpf(10) ** -9 - mpf(1) / 128, mpf(1) / 128, ("", 10, 17))
def j1_cosine(t):
    return bessel_phase(1, t + mpf(1) / 128, True)


@fit(mpf(10) ** -9 - mpf(1) / 128, mpf(1) / 128, ("", 10, 17))
def j1_sine(t):
    return bessel_phase(1, t + mpf(1) / 128, False)


# integrals.h
@fit(-0.5, 0.5, ("", 28, 17))
def spence_core(w):  # -Li2(-w) / w
    return mp.polylog(2, -w).real / -w


def dawson(x):
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


@fit(-2, 2, ("", 17, 17))
def dawsn_near(t):  # divided by x, in x^2 - 2
    x = mp.sqrt(t + 2)
    return dawson(x) / x


@fit(-1.5, 1.5, ("", 27, 17))
def dawsn_middle(t):  # times 2 x, in x - 3.5
    return dawson(t + 3.5) * 2 * (t + 3.5)


@fit(mpf(10) ** -4 - 0.02, 0.02, ("", 17, 17))
def dawsn_far(t):  # times 2 x, in 1 / x^2 - 0.02
    x = 1 / mp.sqrt(t + 0.02)
    return dawson(x) * 2 * x


@fit(-3, 3, ("", 20, 17))
def expint_near(t):  # (Ei(x) - log(x) - gamma) / x, in x - 3
    x = t + 3
    return (mp.ei(x) - mp.log(x) - mp.euler) / x


@fit(-4, 4, ("", 22, 17))
def expint_middle(t):  # x e^-x Ei(x), in x - 10
    return mp.ei(t + 10) * mp.exp(-t - 10) * (t + 10)


@fit(mpf(1) / 40 - 0.05, mpf(1) / 14 - 0.05, ("", 17, 17))
def expint_far(t):  # in 1 / x - 0.05
    x = 1 / (t + 0.05)
    return mp.ei(x) * mp.exp(-x) * x


@fit(mpf(10) ** -3 - 0.0125, 0.0125, ("", 12, 17))
def expint_last(t):  # in 1 / x - 0.0125
    x = 1 / (t + 0.0125)
    return mp.ei(x) * mp.exp(-x) * x


def fresnel_part(v, cosine):
    """S = 1/2 - f cos c - g sin c, C = 1/2 + f sin c - g cos c, c = pi/2 x^2: pi x f or pi^2 x^3 g, v = 1 / x^2."""
    x = 1 / mp.sqrt(v)
    c = mp.pi / 2 * x * x
    s, k = mpf(1) / 2 - mp.fresnels(x), mpf(1) / 2 - mp.fresnelc(x)
    f = s * mp.cos(c) - k * mp.sin(c)
    g = k * mp.cos(c) + s * mp.sin(c)
    return mp.pi * x * f if cosine else mp.pi**2 * x**3 * g


@fit(-3.25, 3.25, ("", 10, 17))
def fresnel_s_near(t):  # S / x^3 in x^4 - 3.25
    x = mp.root(t + 3.25, 4)
    return mp.fresnels(x) / x**3


@fit(-3.25, 3.25, ("", 10, 17))
def fresnel_c_near(t):  # C / x
    x = mp.root(t + 3.25, 4)
    return mp.fresnelc(x) / x


@fit(mpf(10) ** -4 - 0.2, 0.2, ("", 25, 17))
def fresnel_f(t):  # in 1 / x^2 - 0.2
    return fresnel_part(t + 0.2, True)


@fit(mpf(10) ** -4 - 0.2, 0.2, ("", 25, 17))
def fresnel_g(t):
    return fresnel_part(t + 0.2, False)


def reduction_table(name, start, width, count, significant, sizes, shift):
    """2/pi without the bits that make multiples of 4 for every x >= 2^(start + width j), in parts, times 2^shift."""
    mp.prec = 1600
    print(f"inline constexpr double k{name}Reduction[{len(sizes)}][{count}] = {{")
    for part in range(len(sizes)):
        row = []
        for j in range(count):
            top = significant + 2 - (start + width * j)  # bits of weight >= 2^top drop
            rest = mp.fmod(2 / mp.pi, mpf(2) ** top)
            for i in range(part + 1):
                top -= sizes[i]
                head = mp.floor(mp.ldexp(rest, -top)) * mpf(2) ** top
                rest -= head
            row.append(float(mp.ldexp(head, shift)).hex() if head else "0.0")
        print("    {" + ", ".join(row) + "},")
    print("};")


if __name__ == "__main__":
    if sys.argv[1:2] == ["tables"]:
        reduction_table("Float", 17, 1, 111, 23, (29, 53), 0)
        reduction_table("Double", 24, 32, 32, 52, (53, 53, 53, 53), 200)
        sys.exit()
    for name in sys.argv[1:] or FITS:
        f, w, lo, hi, degree, digits = FITS[name]
        worst, coefficients = remez(f, w, lo, hi, degree)
        print(f"{name}: error 2^{float(mp.log(worst, 2)):.1f}")
        print("    " + ", ".join(mp.nstr(c, digits) for c in coefficients))
