"""Import three published MCP servers and run the whole job on what they declare.

    python examples/live.py --out out/live

The servers are installed with pip into a virtual environment of their own below the output folder, started once each
over stdio, asked for their tools, and ended. No tool of theirs is called. See examples/live.md.
"""

import argparse
import shlex
import subprocess
import sys
import venv
from pathlib import Path

PACKAGES = ("mcp-server-time", "mcp-server-git", "mcp-server-fetch")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out/live"), help="folder for everything (out/live)")
    parser.add_argument("--tasks", type=int, default=6, help="composed tasks wanted (6)")
    parser.add_argument("--import-only", action="store_true", help="stop after the specs are written")
    options = parser.parse_args()
    programs = install(options.out / "servers")
    specs = options.out / "specs.json"
    stdio = [word for package in PACKAGES for word in ("--stdio", shlex.quote(str(programs / package)))]
    code = weft("catalog", "import", *stdio, "--timeout", "60", "--out", str(specs))
    if code or options.import_only:
        return code
    return weft("run", "--specs", str(specs), "--tasks", str(options.tasks), "--out", str(options.out / "run"))


def install(folder: Path) -> Path:
    """Make a virtual environment with the servers, unless it is there; return where its programs are."""
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    if not all(list(programs.glob(f"{package}*")) for package in PACKAGES):
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *PACKAGES], check=True)
    return programs.absolute()


def weft(*words: str) -> int:
    print("weft", *words, file=sys.stderr)
    return subprocess.run([sys.executable, "-m", "weft", *words], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
