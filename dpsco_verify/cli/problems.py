"""``dpsco-verify problems``."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpsco_verify.cli.account import write_whole
from dpsco_verify.cli.completion import problem_ids
from dpsco_verify.cli.options import echo_json, indented, json_option
from dpsco_verify.errors import InputError

if TYPE_CHECKING:
    from dpsco_verify.guarantees.optimiser import BankProblem

_MORE = """\b
A file (--out) holds one problem: what it is, with L, D and the certified
minimum, and its arrays: data (N, k) with probabilities (N,), or for
independent signs expectation (d,) and magnitude; minimiser (d,); and with
--n a sample (n, k). JSON has everything in one object; NPZ has the arrays,
and the rest as JSON text in the array description.
"""


@click.command(epilog=_MORE)
@click.argument("ids", metavar="[ID]...", nargs=-1, shell_complete=problem_ids)
@json_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write one problem to FILE.json or FILE.npz.",
)
@click.option(
    "--n", type=click.IntRange(min=0), default=0, show_default=True, help="Points of a sample in the file."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The sample's seed.")
def problems(ids: tuple[str, ...], *, as_json: bool, out: Path | None, n: int, seed: int) -> None:
    """List the problems on which optimisers are checked: exact risks, certified minima, and why each is hard.

    Example: dpsco-verify problems hinge --out hinge.npz --n 1000
    """
    from dpsco_verify.guarantees.optimiser import BANK
    from dpsco_verify.guarantees.optimiser.catalogue import described

    for id_ in ids:
        if id_ not in BANK:
            raise InputError(f"problem={id_!r} is unknown; give some of {', '.join(BANK)}")
    chosen = [BANK[id_] for id_ in ids] if ids else list(BANK.values())
    if out is not None:
        if len(ids) != 1:
            raise InputError(f"out={str(out)!r} holds one problem, and {len(ids)} are named; name one")
        write_whole("out", out, _file(chosen[0], out, n=n, seed=seed))
        return
    if n:
        raise InputError(f"n={n} is for a file; give --out FILE")
    if as_json:
        echo_json([described(one) for one in chosen])
        return
    for one in chosen:
        click.echo(_shown(one))


def _shown(one: BankProblem) -> str:
    population, minimum = one.population, one.minimum
    exact = f"min F = {minimum.value:.9g}" + (f" - {minimum.gap:.1e} at most" if minimum.gap else "")
    sizes = f"d = {population.dimension}, L = {population.lipschitz:.4g}, D = {one.convex_set.diameter:.4g}"
    kind = type(one.convex_set).__name__
    return f"{one.id:24}{population.loss.name}, {kind}\n{indented(f'{sizes}, {exact}')}\n{indented(one.why)}"


def _file(one: BankProblem, out: Path, *, n: int, seed: int) -> bytes:
    import numpy as np

    from dpsco_verify.guarantees.optimiser.catalogue import arrays, described

    found: dict[str, Any] = arrays(one, n=n, seed=seed)
    if out.suffix == ".json":
        plain = {name: np.asarray(array).tolist() for name, array in found.items()}
        return json.dumps(described(one) | {"arrays": plain}, allow_nan=False).encode() + b"\n"
    if out.suffix == ".npz":
        text = json.dumps(described(one), allow_nan=False)
        file = io.BytesIO()
        np.savez(file, description=np.array(text), **found)
        return file.getvalue()
    raise InputError(f"out={str(out)!r} is neither JSON nor NPZ; give a name that ends in .json or .npz")
