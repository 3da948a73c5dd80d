import tensorflow as tf

from both_ways import run


def beam_search(log_probabilities, longest):
    width = 3
    tokens = tf.shape(log_probabilities)[1]
    scores = tf.constant([0.0, -1e9, -1e9])
    sentences = tf.fill([width, 8], 0)
    last = tf.constant([1, 1, 1])
    ended = tf.constant([False, False, False])
    length = tf.constant(0)
    while length < longest and not tf.reduce_all(ended):
        stay = tf.one_hot(tf.zeros_like(last), tokens, on_value=0.0, off_value=-1e9)
        following = tf.where(tf.expand_dims(ended, 1), stay, tf.gather(log_probabilities, last))
        best = tf.math.top_k(tf.reshape(tf.expand_dims(scores, 1) + following, [-1]), width)
        origin = best.indices // tokens
        scores = best.values
        last = best.indices % tokens
        column = tf.one_hot(length, 8, dtype=tf.int32)
        sentences = tf.gather(sentences, origin) * (1 - column) + tf.expand_dims(last, 1) * column
        ended = last == 0
        length += 1
    return [sentences, scores, length]


def a_star(walls, start, goal):
    columns, cells = walls.shape[1], walls.shape[0] * walls.shape[1]
    far = 1000000
    places = tf.range(cells)
    left = tf.abs(places // columns - goal // columns) + tf.abs(places % columns - goal % columns)
    blocked = tf.reshape(walls, [-1]) > 0
    cost = tf.where(places == start, 0, far)
    open_cells = places == start
    while tf.reduce_any(open_cells):
        here = tf.cast(tf.argmin(tf.where(open_cells, cost + left, far)), tf.int32)
        if here == goal:
            return cost[here]
        open_cells = tf.logical_and(open_cells, places != here)
        for step in [-columns, columns, -1, 1]:
            there = here + step
            if there < 0 or there >= cells:
                continue
            if abs(step) == 1 and there // columns != here // columns:
                continue
            if blocked[there]:
                continue
            if cost[here] + 1 < cost[there]:
                cost = tf.where(places == there, cost[here] + 1, cost)
                open_cells = tf.logical_or(open_cells, places == there)
    return tf.constant(-1)


def k_means(points, centres):
    moved = tf.constant(1.0)
    rounds = 0
    while moved > 1e-6:
        distances = tf.reduce_sum(tf.square(tf.expand_dims(points, 1) - tf.expand_dims(centres, 0)), -1)
        nearest = tf.argmin(distances, 1)
        means = tf.math.unsorted_segment_mean(points, nearest, centres.shape[0])
        moved = tf.reduce_max(tf.abs(means - centres))
        centres = means
        rounds += 1
    return [centres, rounds]


def metropolis(samples):
    def log_density(x):
        return -0.25 * tf.pow(x, 4.0) + x * x

    x, total = tf.constant(0.0), tf.constant(0.0)
    taken = 0
    for i in tf.range(samples):
        proposal = x + tf.random.stateless_normal([], tf.stack([i, 1]))
        chance = tf.random.stateless_uniform([], tf.stack([i, 2]))
        if tf.math.log(chance) < log_density(proposal) - log_density(x):
            x = proposal
            taken += 1
        total += x
    return [total / tf.cast(samples, tf.float32), taken]


model = tf.math.log(tf.constant([[0.9, 0.05, 0.03, 0.02], [0.1, 0.2, 0.5, 0.2], [0.3, 0.1, 0.2, 0.4], [0.6, 0.2, 0.1, 0.1]]))
for longest in [1, 3, 8]:
    run(f"beam_search {longest}", beam_search, model, tf.constant(longest))
walls = tf.constant([[0, 1, 0, 0, 0], [0, 1, 0, 1, 0], [0, 0, 0, 1, 0], [1, 1, 1, 1, 0], [0, 0, 0, 0, 0]])
for goal in [0, 4, 20, 10]:
    run(f"a_star {goal}", a_star, walls, tf.constant(0), tf.constant(goal), eager=True)  # AutoGraph: no return in such a loop
run("a_star island", a_star, tf.constant([[0, 1, 0], [1, 1, 0], [0, 0, 0]]), tf.constant(0), tf.constant(8), eager=True)
points = tf.constant([[0.1, 0.2], [0.0, -0.1], [1.0, 1.2], [0.9, 1.1], [2.0, 0.1], [2.2, -0.2], [0.4, 0.3]])
run("k_means", k_means, points, tf.constant([[0.0, 0.0], [0.5, 0.5], [1.5, 0.5]]))
run("metropolis", metropolis, tf.constant(200))
