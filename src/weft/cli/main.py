"""The `weft` command: the table of nouns, and what every command does about errors and interruption.

Exit codes: 0 done; 1 refused or failed, with one clear line on standard error; 2 usage; 130 interrupted;
141 the reader of standard output went away.
"""

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from weft import __version__
from weft.cli import catalog, doctor, env_build, evolve, rl, run, sft
from weft.cli.output import people
from weft.errors import WeftError

INTERRUPTED = 130
READER_GONE = 141

# To add to the command line: write a module in this package with `app = typer.Typer()`, import it above and
# add one line below. COMMANDS hold one command, which keeps its own name (`weft doctor`); NOUNS hold verbs
# under the noun given here (`weft catalog import`). The order is the order in `weft --help`.
COMMANDS: tuple[typer.Typer, ...] = (run.app, doctor.app)
NOUNS: dict[str, typer.Typer] = {
    "catalog": catalog.app,
    "env": env_build.app,
    "sft": sft.app,
    "rl": rl.app,
    "evolve": evolve.app,
}


class Edge(TyperGroup):
    """The outermost group: turns what leaves a command into a message and an exit code.

    Only errors that Weft raises on purpose become one line; anything else is a fault of Weft's own and keeps
    its traceback. (Usage errors never get here: typer answers them with exit code 2.)
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command.

        Raises:
            typer.Exit: 1 after an error of Weft's, 130 after an interruption, 141 when nobody reads on.
        """
        try:
            return super().invoke(ctx)
        except WeftError as error:
            people().print(f"weft: {_one_line(error)}", style="red", markup=False, soft_wrap=True)
            raise typer.Exit(1) from error
        except KeyboardInterrupt as error:
            people().print(
                "weft: interrupted; finished pieces are kept: the same command with the same --out continues",
                markup=False,
                soft_wrap=True,
            )
            raise typer.Exit(INTERRUPTED) from error
        except BrokenPipeError as error:
            # Nothing more can be written, and the interpreter must not try again when it exits.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(READER_GONE) from error


def _one_line(error: WeftError) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"weft {__version__}")
        raise typer.Exit


def build_app() -> typer.Typer:
    """Join the nouns into one application."""
    app = typer.Typer(
        name="weft",
        cls=Edge,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Stateful environments, proven tasks and training data from MCP tool specifications.",
    )

    @app.callback()
    def weft(
        version: Annotated[
            bool,
            typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
        ] = False,
    ) -> None:
        pass

    for command in COMMANDS:
        app.add_typer(command)
    for name, noun in NOUNS.items():
        app.add_typer(noun, name=name, no_args_is_help=True)
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code.

    Args:
        arguments: words after `weft`; those of the process when None.
    """
    build_app()(args=arguments, prog_name="weft")
