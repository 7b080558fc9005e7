"""bench/jax_worker.py - the programs of bench/*.gsl in JAX, with the same shardings.

    jax_worker.py X Y        a mesh of X times Y host devices

Speaks as bench/worker.c does: a line "NAME COUNT" runs that many times after one that is not
counted.  The answer is the sum of |out|, then two numbers a run: seconds with the inputs already on
the devices, and seconds from host arrays to a host array.
"""
import os
import sys
import time

X, Y = int(sys.argv[1]), int(sys.argv[2])
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={X * Y}"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

MESH = jax.sharding.Mesh(np.array(jax.devices()).reshape(X, Y), ("x", "y"))


def on(*axes):
    return NamedSharding(MESH, P(*axes))


def cut(value, *axes):
    return jax.lax.with_sharding_constraint(value, on(*axes))


def mlp(h, w1, w2):
    return jax.nn.relu(h @ w1) @ w2


def transformer(h, wq, wk, wv, wo, w1, w2):
    q = cut(jnp.einsum("bsm,mnd->bsnd", h, wq), "x", None, "y", None)
    k = cut(jnp.einsum("bsm,mnd->bsnd", h, wk), "x", None, "y", None)
    v = cut(jnp.einsum("bsm,mnd->bsnd", h, wv), "x", None, "y", None)
    length = h.shape[1]
    causal = jnp.arange(length)[:, None] >= jnp.arange(length)[None, :]
    scores = jnp.where(causal, jnp.einsum("bsnd,btnd->bnst", q, k) / 8.0, -1e9)
    p = jax.nn.softmax(scores, axis=3)
    a = cut(jnp.einsum("bnst,btnd->bsnd", p, v), "x", None, "y", None)
    h = cut(h + jnp.einsum("bsnd,ndm->bsm", a, wo), "x", None, "y")
    f = cut(jax.nn.relu(jnp.einsum("bsm,mh->bsh", h, w1)), "x", None, "y")
    return h + jnp.einsum("bsh,hm->bsm", f, w2)


def norm(h, gain, bias):
    centred = h - h.mean(axis=1, keepdims=True)
    scale = jax.lax.rsqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-5)
    return jax.nn.softmax(jax.nn.gelu(centred * scale * gain + bias, approximate=False), axis=1)


HEADS_IN = ((512, 8, 64), ("x", "y", None))
# The function, for each operand its shape and axes, and the axes of the result.
PROGRAMS = {
    "mlp": (mlp, [((512, 1024), ("x", None)), ((1024, 4096), (None, "y")),
                  ((4096, 1024), ("y", None))], ("x", None)),
    "transformer": (transformer, [((8, 128, 512), ("x", None, "y")), HEADS_IN, HEADS_IN, HEADS_IN,
                                  ((8, 64, 512), ("y", None, "x")), ((512, 2048), ("x", "y")),
                                  ((2048, 512), ("y", "x"))], ("x", None, "y")),
    "norm": (norm, [((4096, 1024), (("x", "y"), None)), ((1024,), (None,)), ((1024,), (None,))],
             (("x", "y"), None)),
}


def pattern(shape, k):
    """The fill of the language; parameters (all but the first) are scaled."""
    count = int(np.prod(shape))
    number = (np.arange(count, dtype=np.uint64) * 2654435761 + k * 40503) % 2 ** 32
    values = number.astype(np.float64) / 2 ** 32 - 0.5
    return (values * (0.05 if k else 1)).astype(np.float32).reshape(shape)


class Program:
    def __init__(self, name):
        function, operands, result = PROGRAMS[name]
        self.shardings = [on(*axes) for _, axes in operands]
        self.host = [pattern(shape, k) for k, (shape, _) in enumerate(operands)]
        self.resident = self.put()
        self.run = jax.jit(function, in_shardings=self.shardings, out_shardings=on(*result))
        self.total = float(np.abs(np.asarray(self.run(*self.resident), np.float64)).sum())

    def put(self):
        return [jax.device_put(v, s) for v, s in zip(self.host, self.shardings)]

    def time_resident(self):
        start = time.perf_counter()
        self.run(*self.resident).block_until_ready()
        return time.perf_counter() - start

    def time_whole(self):
        start = time.perf_counter()
        np.asarray(self.run(*self.put()))
        return time.perf_counter() - start


def main():
    programs = {name: Program(name) for name in PROGRAMS}
    for line in sys.stdin:
        name, count = line.split()
        program = programs[name]
        times = [(program.time_resident(), program.time_whole()) for _ in range(int(count) + 1)][1:]
        print(program.total, *(f"{t:.9f}" for pair in times for t in pair), flush=True)


main()
