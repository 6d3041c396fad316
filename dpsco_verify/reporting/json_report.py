"""``results.json``: the record itself."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_verify.evidence import AuditRecord
from dpsco_verify.evidence.records_codec import encode
from dpsco_verify.reporting.naming import RESULTS


@dataclass(frozen=True)
class JsonReport:
    """The record, as :mod:`dpsco_verify.evidence.records_codec` encodes it."""

    name: str = "json"

    def filenames(self, record: AuditRecord) -> tuple[str, ...]:  # noqa: ARG002  one file, whatever the record
        """Return the one file."""
        return (RESULTS,)

    def render(
        self,
        record: AuditRecord,
        *,
        beside: frozenset[str],  # noqa: ARG002  the record holds no links
    ) -> dict[str, bytes]:
        """Return the encoded record."""
        return {RESULTS: encode(record)}
