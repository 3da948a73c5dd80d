"""Where ops run: the log of device placement."""
import tensorflow as tf

tf.debugging.set_log_device_placement(True)
with tf.device("CPU:0"):
    a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    b = tf.matmul(a, a)
tf.debugging.set_log_device_placement(False)
print(b)
print([d.name for d in tf.config.list_physical_devices("CPU")])
print(b.device)
