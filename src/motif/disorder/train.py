#!/usr/bin/env python3
"""Trains the network of disorder.ts to predict what metapredict predicts, and writes weights.ts. See README.md.

    python3 train.py disorder_teacher.txt.xz families.tsv --caid caid1_disorder_pdb.fasta.xz caid2_disorder_pdb.fasta.xz

Needs PyTorch 1.13 or newer, NumPy, SciPy and a C compiler; one thread needs about half an hour.
"""
import argparse
import base64
import ctypes
import lzma
import math
import random
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from scipy.stats import rankdata, spearmanr
from torch import nn

HERE = Path(__file__).parent
RESIDUES = "ACDEFGHIKLMNPQRSTVWY"
UNKNOWN = len(RESIDUES)
SPAN, WIDTH, BLOCKS = 11, 32, 4
# Ranks of disorder and order, then their values.
OUTPUTS = 4
# Share of the ranks in a prediction, as in disorder.ts.
RANK_SHARE = 0.2
# Predictions of the teacher are stored in ninetieths.
LEVELS = 91
BATCH_RESIDUES = 16_384
LEARNING_RATE = 4e-3
WARM_UP_STEPS = 300


class Protein(NamedTuple):
    accession: str
    residues: np.ndarray
    # Disorder and order of each residue, 0 to 90.
    levels: np.ndarray


class LabelledChain(NamedTuple):
    residues: np.ndarray
    # One of "0", "1" and "-" per residue.
    labels: str


# Data


def encode(letters):
    """Codes 0 to 19 of the standard residues; 20 for any other letter."""
    return np.array([RESIDUES.find(letter) % (UNKNOWN + 1) for letter in letters])


def read_teacher(path, limit):
    """Records of four lines: accession, sequence, disorder, order."""
    lines = lzma.open(path, "rt").read().split("\n")
    proteins = []
    for i in range(0, len(lines) - 3, 4)[:limit]:
        levels = [np.frombuffer(line.encode(), np.uint8).astype(int) - 33 for line in lines[i + 2 : i + 4]]
        proteins.append(Protein(lines[i][1:], encode(lines[i + 1]), np.stack(levels, 1)))
    return proteins


def read_labelled(path):
    """A set of CAID: header, sequence, labels."""
    lines = lzma.open(path, "rt").read().split("\n")
    return [LabelledChain(encode(lines[i + 1]), lines[i + 2]) for i in range(0, len(lines) - 2, 3)]


def hold_out(proteins, path):
    """Proteins to train on, and those of a tenth of the families."""
    family = dict(line.split("\t") for line in Path(path).read_text().split("\n") if line)
    names = sorted({family[protein.accession] for protein in proteins})
    random.Random(7).shuffle(names)
    held = set(names[: len(names) // 10])
    train = [protein for protein in proteins if family[protein.accession] not in held]
    return train, [protein for protein in proteins if family[protein.accession] in held]


def targets_of_levels(proteins):
    """For each output, the target of each level: the share of lower residues, or the value."""
    values = np.arange(LEVELS, dtype=np.float32) / (LEVELS - 1)
    ranks = []
    for k in (0, 1):
        counts = np.bincount(np.concatenate([protein.levels[:, k] for protein in proteins]), minlength=LEVELS)
        ranks.append(((np.cumsum(counts) - counts / 2) / counts.sum()).astype(np.float32))
    return [*ranks, values, values]


def batches_of(proteins):
    """Batches of proteins of similar length, in random order."""
    batches, batch = [], []
    for protein in sorted(proteins, key=lambda p: len(p.residues) + random.random() * 30):
        longest = max(len(p.residues) for p in [protein, *batch])
        if batch and (len(batch) + 1) * longest > BATCH_RESIDUES:
            batches.append(batch)
            batch = []
        batch.append(protein)
    batches.append(batch)
    random.shuffle(batches)
    return batches


def inputs_of(chains):
    """One-hot residues and a last channel that is 1 inside the chain; the mask of residues."""
    one_hot = np.vstack([np.eye(20, dtype=np.float32), np.full((1, 20), 0.05, np.float32)])
    longest = max(map(len, chains))
    x = np.zeros((len(chains), longest, 21), np.float32)
    for i, residues in enumerate(chains):
        x[i, : len(residues), :20] = one_hot[residues]
        x[i, : len(residues), 20] = 1
    return torch.from_numpy(x), torch.from_numpy(x[..., 20:].copy())


def expected_of(batch, targets):
    """Targets of all outputs, padded like the inputs."""
    y = np.zeros((len(batch), max(len(p.residues) for p in batch), OUTPUTS), np.float32)
    for i, protein in enumerate(batch):
        for k in range(OUTPUTS):
            y[i, : len(protein.residues), k] = targets[k][protein.levels[:, k % 2]]
    return torch.from_numpy(y)


# Network


def compile_scan():
    """Functions of scan.c."""
    library = str(Path(tempfile.mkdtemp()) / "scan.so")
    subprocess.run(["cc", "-O3", "-shared", "-fPIC", "-o", library, str(HERE / "scan.c")], check=True)
    return ctypes.CDLL(library)


def call(function, tensors):
    """Calls a function of scan.c with float arrays of the same size and with that size."""
    addresses = [ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors]
    function(*addresses, *map(ctypes.c_long, tensors[0].shape))


class Scan(torch.autograd.Function):
    """h[t] = a[t] h[t - 1] + b[t]: too slow in PyTorch itself."""

    library = None

    @staticmethod
    def forward(ctx, a, b):
        Scan.library = Scan.library or compile_scan()
        a, b = a.contiguous(), b.contiguous()
        h = torch.empty_like(a)
        call(Scan.library.forward, [a, b, h])
        ctx.save_for_backward(a, h)
        return h

    @staticmethod
    def backward(ctx, dh):
        a, h = ctx.saved_tensors
        da, db = torch.empty_like(a), torch.empty_like(a)
        call(Scan.library.backward, [a, h, dh.contiguous(), da, db])
        return da, db


class Block(nn.Module):
    """Gated running means in both directions, and a convolution of three residues, each added to its input."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(WIDTH, 4 * WIDTH)
        self.out = nn.Linear(2 * WIDTH, WIDTH)
        self.conv = nn.Conv1d(WIDTH, WIDTH, 3, padding=1)
        with torch.no_grad():
            # Means over 1 to 55 residues at first.
            self.gate.bias[: 2 * WIDTH] = torch.linspace(-1, 4, WIDTH).repeat(2)
            self.out.weight *= 0.5
            self.conv.weight *= 0.5

    def forward(self, x, mask):
        gates, values = self.gate(x).split(2 * WIDTH, -1)
        keep = torch.sigmoid(gates)
        fresh = (1 - keep) * values * mask
        keep = keep * mask
        ahead = Scan.apply(keep[..., :WIDTH], fresh[..., :WIDTH])
        back = Scan.apply(keep[..., WIDTH:].flip(1), fresh[..., WIDTH:].flip(1)).flip(1)
        x = x + torch.relu(self.out(torch.cat([ahead, back], -1)))
        return x + torch.relu(self.conv((x * mask).transpose(1, 2)).transpose(1, 2))


class Network(nn.Module):
    """Four outputs per residue, each 0 to 1."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(21, WIDTH, SPAN, padding=SPAN // 2)
        self.blocks = nn.ModuleList([Block() for _ in range(BLOCKS)])
        self.last = nn.Linear(WIDTH, OUTPUTS)

    def forward(self, x, mask):
        x = torch.relu(self.first(x.transpose(1, 2)).transpose(1, 2))
        for block in self.blocks:
            x = block(x, mask)
        return torch.sigmoid(self.last(x))


# Training


class RunningMean:
    """Exponential mean of the weights over some thousand steps: better than the last weights."""

    def __init__(self, network):
        self.weights = {name: value.clone() for name, value in network.state_dict().items()}

    def add(self, network, step):
        decay = min(0.995, step / (step + 50))
        for name, value in network.state_dict().items():
            self.weights[name].mul_(decay).add_(value, alpha=1 - decay)


def train(proteins, epochs):
    """Weights of a network trained on these proteins."""
    torch.manual_seed(1)
    random.seed(1)
    targets = targets_of_levels(proteins)
    network = Network()
    mean = RunningMean(network)
    optimizer = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE, weight_decay=1e-4, betas=(0.9, 0.98))
    steps, step = epochs * len(batches_of(proteins)), 0
    for epoch in range(epochs):
        losses = []
        for batch in batches_of(proteins):
            rate = LEARNING_RATE * min(1, step / WARM_UP_STEPS) * 0.5 * (1 + math.cos(math.pi * step / steps))
            for group in optimizer.param_groups:
                group["lr"] = rate + 1e-6
            losses.append(descend(network, optimizer, batch, targets))
            step += 1
            if step % 5 == 0:
                mean.add(network, step)
        print(f"epoch {epoch + 1} of {epochs}: mean loss {np.mean(losses):.5f}", flush=True)
    return mean.weights


def descend(network, optimizer, batch, targets):
    """One step against the sum of the mean squared errors of the outputs; returns that sum."""
    x, mask = inputs_of([protein.residues for protein in batch])
    errors = (network(x, mask) - expected_of(batch, targets)) ** 2 * mask
    loss = errors.sum() / mask.sum()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimizer.step()
    return loss.item()


# Evaluation


def predict(network, residues):
    """Disorder and order of each residue, as disorder.ts computes them."""
    with torch.no_grad():
        outputs = network(*inputs_of([residues]))[0].numpy()
    return (outputs[:, 2:] + RANK_SHARE * outputs[:, :2]) / (1 + RANK_SHARE)


def report_correlations(network, proteins):
    """Prints Spearman correlations over all residues of these proteins."""
    found = np.concatenate([predict(network, protein.residues) for protein in proteins])
    wanted = np.concatenate([protein.levels for protein in proteins])
    for k, name in enumerate(["disorder", "order"]):
        print(f"Spearman, {name}, {len(proteins)} proteins of other families: {spearmanr(found[:, k], wanted[:, k])[0]:.4f}")


def report_auc(network, path):
    """Prints the area under the ROC curve of disorder over labelled residues."""
    chains = read_labelled(path)
    labels = np.array(list("".join(chain.labels for chain in chains)))
    found = np.concatenate([predict(network, chain.residues)[:, 0] for chain in chains])
    known = labels != "-"
    positive = labels[known] == "1"
    ranks, count = rankdata(found[known]), positive.sum()
    area = (ranks[positive].sum() - count * (count + 1) / 2) / count / (len(ranks) - count)
    print(f"AUC, {Path(path).name}, {len(chains)} proteins: {area:.4f}")


# Export


def flatten(weights):
    """All weights in the order of network.ts: biases before weights, a row of outputs per input."""
    w = {name: value.numpy() for name, value in weights.items()}
    parts = [w["first.bias"]]
    for k in range(SPAN):
        # The channel that is 1 inside the chain belongs to every residue; an unknown one is the mean of the others.
        place, inside = w["first.weight"][:, :20, k].T, w["first.weight"][:, 20, k]
        parts += [place + inside, place.mean(0) + inside]
    for i in range(BLOCKS):
        block = f"blocks.{i}."
        parts += [w[block + "gate.bias"], w[block + "gate.weight"].T]
        parts += [w[block + "out.bias"], w[block + "out.weight"].T]
        parts += [w[block + "conv.bias"], w[block + "conv.weight"].transpose(2, 1, 0)]
    parts += [w["last.bias"], w["last.weight"].T]
    return np.concatenate([part.ravel() for part in parts])


def write_weights(weights, path):
    """weights.ts: 16-bit floats in base64."""
    text = base64.b64encode(flatten(weights).astype("<f2").tobytes()).decode()
    lines = [f'  "{text[i : i + 100]}"' for i in range(0, len(text), 100)]
    comment = "/** Weights of the network as 16-bit floats in base64: made by train.py, never by hand. */"
    Path(path).write_text(f"{comment}\nexport const WEIGHTS =\n" + " +\n".join(lines) + ";\n")


def arguments():
    """Arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teacher", help="disorder_teacher.txt.xz")
    parser.add_argument("families", help="output of test/bench/disorder-families.ts")
    parser.add_argument("--caid", nargs="*", default=[], metavar="FILE", help="labelled sets to report the AUC on")
    parser.add_argument("--proteins", type=int, metavar="N", help="use only the first N proteins")
    parser.add_argument("--epochs", type=int, default=20, metavar="N")
    parser.add_argument("--weights", metavar="FILE", help="evaluate and export these weights instead of training")
    parser.add_argument("--save", metavar="FILE", help="write the weights as PyTorch saves them")
    parser.add_argument("--out", default=HERE / "weights.ts", metavar="FILE", help="default: weights.ts")
    return parser.parse_args()


def main():
    options = arguments()
    torch.set_num_threads(1)
    known, held = hold_out(read_teacher(options.teacher, options.proteins), options.families)
    print(f"{len(known)} proteins to train on, {len(held)} held out")
    weights = torch.load(options.weights) if options.weights else train(known, options.epochs)
    if options.save:
        torch.save(weights, options.save)
    write_weights(weights, options.out)
    network = Network()
    network.load_state_dict(weights)
    report_correlations(network, held)
    for path in options.caid:
        report_auc(network, path)


if __name__ == "__main__":
    main()
