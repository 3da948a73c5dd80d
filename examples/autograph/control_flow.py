import sys

import tensorflow as tf

from both_ways import differentiate, run


def collatz(n):
    steps = tf.constant(0)
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def sum_even(items):
    s = 0
    for c in items:
        if c % 2 > 0:
            continue
        s += c
    return s


def fizzbuzz(last):
    for i in tf.range(1, last + 1):
        if i % 15 == 0:
            tf.print("FizzBuzz", output_stream=sys.stdout)
        elif i % 3 == 0:
            tf.print("Fizz", output_stream=sys.stdout)
        elif i % 5 == 0:
            tf.print("Buzz", output_stream=sys.stdout)
        else:
            tf.print(i, output_stream=sys.stdout)


def first_from(items, limit):
    for i in tf.range(tf.size(items)):
        if items[i] >= limit:
            return i
    return tf.constant(-1)


def bend(x, slope):
    if x > 0:
        if x > 1:
            x = 1 + slope * (x - 1)
    elif x < -1:
        x = slope * x
    else:
        x = x * x
    return x


def longest_run(items):
    longest = 0
    count = 0
    last = tf.constant(-1)
    for item in items:
        if item == last:
            count += 1
        else:
            count = 1
        if count > longest:
            longest = count
        last = item
    return longest


def is_prime(n):
    if n < 2:
        return tf.constant(False)
    d = tf.constant(2)
    while True:
        if d * d > n:
            break
        if n % d == 0:
            return tf.constant(False)
        d += 1
    return tf.constant(True)


for n in [1, 6, 27, 6171]:
    run(f"collatz {n}", collatz, tf.constant(n))
run("sum_even", sum_even, tf.constant([10, 12, 15, 20, 7]))
tf.function(fizzbuzz)(tf.constant(15))
for limit in [3, 8, 11]:
    run(f"first_from {limit}", first_from, tf.constant([1, 4, 9, 2, 10]), tf.constant(limit), eager=True)  # AutoGraph: no return in such a loop
for x in [-2.0, -0.5, 0.5, 3.0]:
    differentiate("bend", bend, tf.constant(x), tf.constant(0.25))
run("longest_run", longest_run, tf.constant([1, 1, 2, 2, 2, 3, 2, 2]))
for n in [1, 2, 9, 91, 97]:
    run(f"is_prime {n}", is_prime, tf.constant(n), eager=True)  # AutoGraph: while True is Python's own, and it cannot be left by a tensor
