"""Reports, each made from the record of a run alone; one file a format."""

from dpsco_verify.reporting.formats import FORMAT_NAMES, ReportFormat, format_named
from dpsco_verify.reporting.terminal import print_report
from dpsco_verify.reporting.write import check_writable, render_all, write_reports

__all__ = [
    "FORMAT_NAMES",
    "ReportFormat",
    "check_writable",
    "format_named",
    "print_report",
    "render_all",
    "write_reports",
]
