"""bench/compare.py - gspmd against JAX: same programs, same machine, same run, turn by turn.

    compare.py WORKER SOURCE_FOLDER [ROUNDS]

Both sides stay loaded, and take turns of a few runs each until ROUNDS turns are done; medians of
all runs are compared.  Two ratios, below 1 where gspmd is faster:
  resident   our whole run, against JAX's run with inputs on the devices and the result left there
  whole      our whole run, against JAX's from host arrays to a host array: what ours also does
"""
import os
import statistics
import subprocess
import sys

PROGRAMS = ("mlp", "transformer", "norm")
MESHES = ((1, 1), (1, 2), (2, 4))
TURN = 3


class Worker:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def ask(self, what, count):
        self.process.stdin.write(f"{what} {count}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline().split()
        if not line:
            raise SystemExit(f"bench: {what}: {self.process.args[0]} ended without an answer")
        return float(line[0]), [float(word) for word in line[1:]]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare(ours, theirs, index, name, rounds):
    mine, resident, whole = [], [], []
    for _ in range(rounds):
        total, times = ours.ask(index, TURN)
        mine += times
        expected, times = theirs.ask(name, TURN)
        resident += times[0::2]
        whole += times[1::2]
    if abs(total - expected) > 1e-3 * abs(expected):
        raise SystemExit(f"bench: {name}: the results differ: {total} and {expected}")
    return [1000 * statistics.median(times) for times in (mine, resident, whole)]


def main():
    worker, source = sys.argv[1], sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    programs = [os.path.join(source, "bench", name + ".gsl") for name in PROGRAMS]
    script = os.path.join(source, "bench", "jax_worker.py")
    print("milliseconds, median; ratios gspmd / JAX\n")
    print(f"{'program':<12} {'devices':>7} {'gspmd':>9} {'JAX resident':>13} {'JAX whole':>10}"
          f" {'resident':>9} {'whole':>6}")
    for x, y in MESHES:
        ours = Worker([worker, f"x={x},y={y}", *programs])
        theirs = Worker([sys.executable, script, str(x), str(y)])
        for index, name in enumerate(PROGRAMS):
            mine, resident, whole = compare(ours, theirs, index, name, rounds)
            print(f"{name:<12} {x * y:>7} {mine:>9.2f} {resident:>13.2f} {whole:>10.2f}"
                  f" {mine / resident:>9.2f} {mine / whole:>6.2f}", flush=True)
        ours.close()
        theirs.close()


main()
