"""The evidence that a run multiplied with that of earlier ones, as one more table of a claim."""

from __future__ import annotations

import math

from dpsco_verify.evidence import AccumulatedRecord, Column, Finding, Scalar, Table, columns


def tables(finding: Finding) -> tuple[Table, ...]:
    """Return a finding's tables, and after them that of its evidence over runs, if there is any."""
    if not finding.accumulated:
        return finding.tables
    return (*finding.tables, _table(finding.accumulated))


def _table(products: tuple[AccumulatedRecord, ...]) -> Table:
    """Return the products of e-values, the strongest evidence first; the runs are in the title if all share them."""
    shared = len({tuple((one.run, one.seed) for one in product.runs) for product in products}) == 1
    over = f" {_runs(products[0])}" if shared else " those named in each row"
    return Table(
        id="accumulation",
        title=f"Evidence multiplied over the runs{over}: it refutes from 1/α on",
        columns=(
            Column(name="null hypothesis"),
            *(() if shared else columns("runs")),
            Column(name="log₁₀ of the largest e-value of one run"),
            Column(name="log₁₀ of the product"),
            Column(name="log₁₀ of 1/α"),
            Column(name="refuted together"),
        ),
        rows=tuple(_row(product, shared=shared) for product in sorted(products, key=_strength)),
    )


def _row(product: AccumulatedRecord, *, shared: bool) -> tuple[Scalar, ...]:
    single = [one.log10_e_value for one in product.runs if one.log10_e_value is not None]
    return (
        product.null_hypothesis,
        *(() if shared else (_runs(product),)),
        max(single, default=None),
        product.log10_e_value,
        -math.log10(product.alpha),
        product.rejected,
    )


def _runs(product: AccumulatedRecord) -> str:
    return ", ".join(f"{one.run} (seed {one.seed})" for one in product.runs)


def _strength(product: AccumulatedRecord) -> tuple[float, str]:
    log = -math.inf if product.log10_e_value is None else product.log10_e_value
    return -log, product.null_hypothesis
