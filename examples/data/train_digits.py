#!/usr/bin/env python3
"""Train the small network of digits.gsl: 64 pixels -> 64 relu -> 10 scores.

Uses the first 1200 pictures only; the other 597 are what digits.gsl measures on.  NumPy is all it
needs; the seed is fixed, so it writes the same weights again:

    python3 train_digits.py
"""
import os

import numpy as np

TRAINED = 1200
HIDDEN = 64
EPOCHS = 60
BATCH = 50
RATE = 0.003
DECAY = 0.0003

here = os.path.dirname(os.path.abspath(__file__))


def load(name):
    return np.load(os.path.join(here, name))


def forward(weights, x):
    hidden = np.maximum(x @ weights["w1"] + weights["b1"], 0)
    return hidden, hidden @ weights["w2"] + weights["b2"]


def gradients(weights, x, y):
    """Of the mean cross-entropy, by hand: the network has two layers."""
    hidden, scores = forward(weights, x)
    scores = scores - scores.max(axis=1, keepdims=True)
    probability = np.exp(scores)
    probability /= probability.sum(axis=1, keepdims=True)
    error = probability
    error[np.arange(len(y)), y] -= 1
    error /= len(y)
    back = (error @ weights["w2"].T) * (hidden > 0)
    return {"w1": x.T @ back, "b1": back.sum(0), "w2": hidden.T @ error, "b2": error.sum(0)}


def shifted(x, random):
    """Pictures moved by up to one pixel: more to learn from than 1200."""
    pictures = x.reshape(-1, 8, 8)
    moved = np.zeros_like(pictures)
    steps = random.integers(-1, 2, size=(len(x), 2)) * (random.random((len(x), 1)) < 0.5)
    for i, (down, right) in enumerate(steps):
        moved[i] = np.roll(pictures[i], (down, right), axis=(0, 1))
    return moved.reshape(-1, 64)


def train(x, y):
    random = np.random.default_rng(7)
    weights = {
        "w1": random.normal(0, (2 / 64) ** 0.5, (64, HIDDEN)),
        "b1": np.zeros(HIDDEN),
        "w2": random.normal(0, (1 / HIDDEN) ** 0.5, (HIDDEN, 10)),
        "b2": np.zeros(10),
    }
    mean = {name: np.zeros_like(w) for name, w in weights.items()}
    square = {name: np.zeros_like(w) for name, w in weights.items()}
    step = 0
    for _ in range(EPOCHS):
        order = random.permutation(len(y))
        for start in range(0, len(y), BATCH):
            chosen = order[start:start + BATCH]
            step += 1
            slope = gradients(weights, shifted(x[chosen], random), y[chosen])
            for name, w in weights.items():                  # Adam
                mean[name] += 0.1 * (slope[name] - mean[name])
                square[name] += 0.001 * (slope[name] ** 2 - square[name])
                move = mean[name] / (1 - 0.9 ** step)
                scale = np.sqrt(square[name] / (1 - 0.999 ** step)) + 1e-8
                w -= RATE * (move / scale + DECAY * w)
    return weights


def main():
    x, y = load("digits_x.npy"), load("digits_y.npy")
    weights = train(x[:TRAINED].astype(np.float64), y[:TRAINED])
    weights = {name: w.astype(np.float32) for name, w in weights.items()}
    for name, w in weights.items():
        np.save(os.path.join(here, f"digits_{name}.npy"), w)
    right = forward(weights, x)[1].argmax(axis=1) == y
    print(f"trained on {right[:TRAINED].sum()} of {TRAINED} right")
    print(f"never seen: {right[TRAINED:].sum()} of {len(y) - TRAINED} right")


if __name__ == "__main__":
    main()
