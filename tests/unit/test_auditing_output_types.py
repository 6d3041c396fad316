"""The types that mechanisms return: what each is judged as, and that what differs in it is seen."""

from array import array
from collections import deque
from pathlib import PurePosixPath
from types import SimpleNamespace
from uuid import UUID

import msgspec
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from dpsco_verify.auditing import AuditVerdict, MechanismError, audit, per_call
from dpsco_verify.auditing.outputs import encode
from dpsco_verify.errors import InputError


class Tensor:
    """Has the array protocol, as tensors of other libraries do."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values.astype(dtype or self.values.dtype)


class TorchTensor:
    """As torch has it: the array of one that has gradients, is elsewhere, or is of bfloat16 is refused."""

    def __init__(self, values, *, requires_grad=False, device="cpu", dtype="float32"):
        self.values = np.asarray(values, dtype=np.float32)
        self.requires_grad, self.device, self.dtype = requires_grad, device, dtype

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return (TorchTensor(x, **self.state) for x in self.values)

    @property
    def state(self):
        return {"requires_grad": self.requires_grad, "device": self.device, "dtype": self.dtype}

    def detach(self):
        return TorchTensor(self.values, **{**self.state, "requires_grad": False})

    def cpu(self):
        return TorchTensor(self.values, **{**self.state, "device": "cpu"})

    def float(self):
        return TorchTensor(self.values, **{**self.state, "dtype": "float32"})

    def __array__(self, dtype=None):
        if self.device != "cpu":
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad")
        if self.dtype == "bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values


class Lazy:
    """Whatever it is asked for, it fails."""

    def __getattr__(self, name):
        raise RuntimeError("not computed")


class OnlyDLPack:
    def __init__(self, values):
        self.values = np.asarray(values)

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class Elsewhere:
    def __array__(self, dtype=None, copy=None):
        raise TypeError("it is on another device")


class Record(msgspec.Struct):
    total: float


class OfAttrs:
    """As attrs writes it."""

    __attrs_attrs__ = (SimpleNamespace(name="total"),)
    __slots__ = ("total",)

    def __init__(self, total):
        self.total = total


class OfPydantic:
    """As pydantic writes it."""

    model_fields = {"total": None}  # noqa: RUF012  as there

    def __init__(self, total):
        self.total = total


class Column:
    """A column of polars."""

    def __init__(self, name, values):
        self.name, self._values = name, values

    def to_list(self):
        return list(self._values)


class PolarsTable:
    """Has columns without an index, and the array protocol, which forgets their names."""

    def __init__(self, **columns):
        self._columns = columns

    @property
    def height(self):
        return len(next(iter(self._columns.values())))

    def get_columns(self):
        return [Column(name, values) for name, values in self._columns.items()]

    def __array__(self, dtype=None, copy=None):
        return np.array(list(self._columns.values())).T


class ArrowTable(PolarsTable):
    get_columns = height = property()

    def to_pydict(self):
        return {name: list(values) for name, values in self._columns.items()}


class ArrowArray:
    """Gives its values with None for what is missing; as an array of numpy it has NaN there, or is refused."""

    def __init__(self, values):
        self._values = values

    def to_pylist(self):
        return list(self._values)

    def to_numpy(self):
        raise ValueError("needed to copy 1 chunks with 1 nulls, but zero_copy_only was True")

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, dtype=np.float64)


# What one call returns for a number, and the entries that it stands for.
FORMS = {
    "complex": (lambda x: complex(x, 1.0), lambda x: [x, 1.0]),
    "complex array": (lambda x: np.array([x + 2j]), lambda x: [x, 2.0]),
    "array without axes": (np.array, lambda x: [x]),
    "masked array": (lambda x: np.ma.array([x, 7.0], mask=[False, True]), lambda x: [x, np.nan]),
    "masked array without axes": (lambda x: np.ma.array(x, mask=False), lambda x: [x]),
    "record": (lambda x: np.array([(x, 3)], dtype=[("a", float), ("b", int)])[0], lambda x: [x, 3.0]),
    "series": (lambda x: pd.Series([x], name="total"), lambda x: [np.nan, 0.0, np.nan, x]),
    "table": (lambda x: pd.DataFrame({"n": [x]}, index=["k"]), lambda x: [np.nan, np.nan, np.nan, x]),
    "timedelta": (lambda x: np.timedelta64(int(1000 * x), "ms"), lambda x: [float(int(1000 * x))]),
    "datetime": (lambda x: np.array([np.datetime64("NaT")]), lambda x: [np.nan]),
    "tensor": (lambda x: Tensor([x, 0.0]), lambda x: [x, 0.0]),
    "tensor without axes": (Tensor, lambda x: [x]),
    "tensor of torch": (lambda x: TorchTensor([x, 0.0]), lambda x: [x, 0.0]),
    "tensor of torch without axes": (lambda x: TorchTensor(x, requires_grad=True), lambda x: [x]),
    "tensor elsewhere": (lambda x: TorchTensor([x], device="cuda", requires_grad=True), lambda x: [x]),
    "tensor of bfloat16": (lambda x: TorchTensor([x], dtype="bfloat16", device="cuda"), lambda x: [x]),
    "only dlpack": (lambda x: OnlyDLPack([x]), lambda x: [x]),
    "table of polars": (lambda x: PolarsTable(n=[x, 1.0]), lambda x: [np.nan, x, 1.0]),
    "table of arrow": (lambda x: ArrowTable(n=[x, 1.0]), lambda x: [np.nan, x, 1.0]),
    "array of arrow": (lambda x: ArrowArray([x, None]), lambda x: [x, np.nan]),
    "queue": (lambda x: deque([x, 1.0]), lambda x: [x, 1.0]),
    "array of Python": (lambda x: array("d", [x]), lambda x: [x]),
    "namespace": (lambda x: SimpleNamespace(total=x), lambda x: [np.nan, x]),
    "record of msgspec": (Record, lambda x: [np.nan, x]),
    "record of attrs": (OfAttrs, lambda x: [np.nan, x]),
    "record of pydantic": (OfPydantic, lambda x: [np.nan, x]),
    "sparse array": (lambda x: scipy.sparse.coo_array([0.0, x]), lambda x: [2.0, 1.0, x]),
    "sparse matrix": (lambda x: scipy.sparse.csc_matrix([[0.0, x]]), lambda x: [1.0, 2.0, 0.0, 1.0, x]),
    "interval": (lambda x: pd.Interval(0.0, x), lambda x: [0.0, x]),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_one_call_returns(form):
    made, entries = FORMS[form]
    outputs = encode([made(x) for x in (0.5, 1.25)], 2)
    np.testing.assert_array_equal(outputs.numbers, [entries(0.5), entries(1.25)])


@pytest.mark.slow
@pytest.mark.parametrize("form", ["complex", "masked array", "record", "table", "sparse array"])
def test_too_little_noise_is_found_in_any_type(form):
    made, _ = FORMS[form]
    mechanism = per_call(lambda dataset, rng: made(dataset[0] + rng.laplace(scale=0.2)))
    result = audit(mechanism, [0.0], [1.0], epsilon=1.0, samples=500)
    assert result.verdict is AuditVerdict.VIOLATED


def test_what_is_returned_for_all_runs_at_once():
    rows = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(encode(Tensor(rows), 3).numbers, rows)
    np.testing.assert_array_equal(encode(pd.DataFrame(rows), 3).numbers, rows)
    np.testing.assert_array_equal(encode(rows[:, 0] + 1j, 3).numbers, [[0, 1], [2, 1], [4, 1]])
    np.testing.assert_array_equal(encode(ArrowArray([1.0, None, 3.0]), 3).numbers, [[1.0], [np.nan], [3.0]])
    hidden = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    np.testing.assert_array_equal(encode(hidden, 3).numbers, [[1.0], [np.nan], [3.0]])
    assert encode(hidden, 3).kind_names == ("None", "number")


@pytest.mark.slow
def test_a_mask_that_follows_the_data_is_seen():
    def masked(dataset, size, rng):
        return np.ma.array(rng.laplace(size=size), mask=np.full(size, dataset == 1.0))

    assert audit(masked, 0.0, 1.0, epsilon=1.0, samples=1000).verdict is AuditVerdict.VIOLATED


def test_a_tensor_is_a_batch_as_it_is_and_item_by_item():
    tensor = TorchTensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True, device="cuda", dtype="bfloat16")
    np.testing.assert_array_equal(encode(tensor, 2).numbers, tensor.values)
    np.testing.assert_array_equal(encode(list(tensor), 2).numbers, tensor.values)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pd.NA, None),
        (pd.Series([1, None], dtype="Int64"), pd.Series([1, 2], dtype="Int64")),
        (pd.Period("2020-01"), pd.Period("2020-02")),
        (PurePosixPath("a/b"), PurePosixPath("a/c")),
        (UUID(int=1), UUID(int=2)),
        (range(3), range(4)),
        (scipy.sparse.coo_array([0.0, 1.0]), scipy.sparse.coo_array([1.0, 0.0])),
        (scipy.sparse.coo_array(([0.0], ([1],)), shape=(2,)), scipy.sparse.coo_array([0.0, 0.0])),
        (PolarsTable(a=[1.0]), PolarsTable(b=[1.0])),
        (ArrowTable(a=[1.0]), ArrowTable(b=[1.0])),
        (SimpleNamespace(a=1.0), SimpleNamespace(b=1.0)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_differs_is_told_apart(one, other):
    outputs = encode([one, other, one], 3)
    assert outputs.fingerprints[0] == outputs.fingerprints[2] != outputs.fingerprints[1]


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (lambda: TorchTensor(1.0), r"array of shape \(\)"),
        (Lazy, "a Lazy that gives no array .RuntimeError: not computed"),
        (lambda: [Lazy(), Lazy()], "a Lazy that gives no array .RuntimeError: not computed"),
        (lambda: np.array([b"ab", b"cd"], dtype="V2"), "memory without a type"),
        (lambda: [np.void(b"ab"), np.void(b"cd")], "memory without a type"),
    ],
)
def test_what_cannot_be_taken_is_a_sentence(returned, said):
    with pytest.raises(InputError, match=said):
        encode(returned(), 2)


def test_what_gives_no_array_is_said():
    with pytest.raises(MechanismError, match="returned a Elsewhere that gives no array .*another device"):
        audit(per_call(lambda dataset, rng: Elsewhere()), 0.0, 1.0, epsilon=1.0)
