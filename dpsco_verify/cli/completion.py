"""``dpsco-verify completion``, and the ids that a shell completes.

Papers, claims and formats are told without heavy imports; problems, systems and exhibits take a second for their
catalogues.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from importlib import metadata, resources

import click

from dpsco_verify.choices import REPORT_FORMATS

_MORE = """\b
bash: eval "$(dpsco-verify completion bash)"   in ~/.bashrc
zsh:  eval "$(dpsco-verify completion zsh)"    in ~/.zshrc
fish: dpsco-verify completion fish | source    in ~/.config/fish/config.fish
"""


@click.command(epilog=_MORE)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script by which a shell completes commands, options and ids."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise LookupError(f"click knows no completion for {shell}")
    script = kind(ctx.find_root().command, {}, "dpsco-verify", "_DPSCO_VERIFY_COMPLETE")
    # Not script.source(), which starts a bash to ask for its version.
    click.echo(script.source_template % script.source_vars())


def paper_ids(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[str]:
    """Return the ids of installed papers that begin like this."""
    return _beginning(begun, (point.name for point in _papers()))


def claim_ids(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[str]:
    """Return the ids of statements, and once one is whole those of its readings, that begin like this."""
    keys = [key for point in _papers() for key in _keys(point)]
    return _beginning(begun, keys if "/" in begun else (key.partition("/")[0] for key in keys))


def format_names(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[str]:
    """Return the names of report formats that begin like this."""
    others = (point.name for point in metadata.entry_points(group="dpsco_verify.formats"))
    return _beginning(begun, (*REPORT_FORMATS, *others))


def problem_ids(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[str]:
    """Return the ids of the bank's problems that begin like this."""
    from dpsco_verify.guarantees.optimiser import BANK

    return _beginning(begun, BANK)


def compared_ids(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[str]:
    """Return the ids of the problems of comparisons that begin like this."""
    from dpsco_verify.comparison.problems import PROBLEMS

    return _beginning(begun, PROBLEMS)


def system_ids(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[str]:
    """Return the ids of the systems of comparisons that begin like this."""
    from dpsco_verify.related.catalogue import SYSTEMS

    return _beginning(begun, SYSTEMS)


def exhibit_ids(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[str]:
    """Return the ids of the museum's exhibits that begin like this."""
    from dpsco_verify.faults import EXHIBITS

    return _beginning(begun, (exhibit.id for exhibit in EXHIBITS))


def _papers() -> metadata.EntryPoints:
    return metadata.entry_points(group="dpsco_verify.papers")


def _keys(point: metadata.EntryPoint) -> Iterator[str]:
    """Yield the claims in the ``expectations.toml`` beside a paper, whose statements would take seconds to import."""
    try:
        file = resources.files(point.module.rpartition(".")[0] or point.module) / "expectations.toml"
        for entry in tomllib.loads(file.read_text(encoding="utf-8"))["claim"]:
            yield f"{entry['id']}/{entry['reading']}"
    except (Exception, SystemExit):  # noqa: BLE001  whoever presses tab wants no traceback of a stranger
        return


def _beginning(begun: str, names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(begun)]
