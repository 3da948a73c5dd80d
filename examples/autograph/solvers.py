import tensorflow as tf

from both_ways import differentiate, run


def cube_root(a):
    x = a
    step = tf.constant(1.0)
    while tf.abs(step) > 1e-6:
        step = (x * x * x - a) / (3 * x * x)
        x -= step
    return x


def pendulum(y, friction):
    return tf.stack([y[1], -tf.sin(y[0]) - friction * y[1]])


def solve(y, friction, end):
    t, h = tf.constant(0.0), tf.constant(0.1)
    accepted, refused = 0, 0
    while t < end:
        if t + h > end:
            h = end - t
        k1 = pendulum(y, friction)
        k2 = pendulum(y + h * k1, friction)
        error = tf.norm(h * (k2 - k1)) / 2 + 1e-12
        if error < 1e-3:
            t += h
            y += h * (k1 + k2) / 2
            accepted += 1
        else:
            refused += 1
        h = h * tf.clip_by_value(0.9 * tf.sqrt(1e-3 / error), 0.3, 2.0)
    return [y, accepted, refused]


def angle_at_end(angle, friction):
    return solve(tf.stack([angle, tf.constant(0.0)]), friction, tf.constant(3.0))[0][0]


def bounce(speed, stiffness):
    x, height, vx, vy = tf.constant(0.0), tf.constant(1.0), speed, tf.constant(0.0)
    touched = 0
    for step in tf.range(400):
        force = tf.constant(-9.81)
        penetration = -height
        if penetration > 0:
            force += stiffness * penetration - 2 * vy
            vx -= 0.005 * 5 * vx
            if vy < 0:
                touched += 1
        vy += 0.005 * force
        x += 0.005 * vx
        height += 0.005 * vy
    return [x, height, touched]


def distance(speed, stiffness):
    return bounce(speed, stiffness)[0]


def recurrent(rows, weights, length):
    state = tf.zeros([2])
    outputs = tf.constant(0.0)
    for i in tf.range(length):
        following = tf.tanh(rows[i] + tf.linalg.matvec(weights, state))
        if tf.reduce_max(tf.abs(following - state)) < 0.01:
            break
        state = following
        outputs += tf.reduce_sum(state)
    return outputs


def recurrent_3(rows, weights):
    return recurrent(rows, weights, tf.constant(3))


differentiate("cube_root", cube_root, tf.constant(8.0))
differentiate("cube_root", cube_root, tf.constant(0.3))
run("pendulum", solve, tf.constant([1.0, 0.0]), tf.constant(0.3), tf.constant(3.0))
differentiate("angle", angle_at_end, tf.constant(1.0), tf.constant(0.3))
run("ball", bounce, tf.constant(2.0), tf.constant(800.0))
differentiate("distance", distance, tf.constant(2.0), tf.constant(800.0))
rows = tf.constant([[0.5, -0.2], [0.1, 0.3], [-0.4, 0.2], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
weights = tf.constant([[0.3, -0.2], [0.1, 0.4]])
for n in [0, 2, 6]:
    run(f"recurrent {n}", recurrent, rows, weights, tf.constant(n))
differentiate("recurrent", recurrent_3, rows, weights)
