"""Probes of what the kernel and the file system offer for isolation and cheap copies.

Each asks the system itself. What changes a process for good (a new namespace, a mount) is tried in a child
that ends with it.
"""

import ctypes
import fcntl
import os
import platform
import sys
import tempfile
from pathlib import Path

from weft.cli.probes import Finding, Status, answer_of

_LINUX_ONLY = "Linux only; environments that need a sandbox run on Linux or WSL"

# landlock_create_ruleset has one number on every architecture that Weft runs on; flag 1 asks for the ABI.
_SYS_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_CREATE_RULESET_VERSION = 1
LANDLOCK_ABI_WITH_NETWORK = 4

# ioctl FICLONE: make this file share the blocks of that one.
_FICLONE = 0x40049409

_ENTER_USER_NAMESPACE = """
import ctypes, os, pathlib
libc = ctypes.CDLL(None, use_errno=True)
def must(result):
    if result != 0:
        raise SystemExit(os.strerror(ctypes.get_errno()))
uid, gid = os.getuid(), os.getgid()
must(libc.unshare(0x10000000 | 0x00020000))
for name, line in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
    try:
        pathlib.Path("/proc/self", name).write_text(line)
    except OSError as error:
        raise SystemExit(f"{name}: {error.strerror}")
"""

_MOUNT_OVERLAY = """
base = pathlib.Path(FOLDER)
must(libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None))
must(libc.mount(b"tmpfs", os.fsencode(base), b"tmpfs", 0, None))
for name in ("lower", "upper", "work", "merged"):
    (base / name).mkdir()
(base / "lower" / "file").write_text("below")
options = f"lowerdir={base}/lower,upperdir={base}/upper,workdir={base}/work"
must(libc.mount(b"overlay", os.fsencode(base / "merged"), b"overlay", 0, options.encode()))
(base / "merged" / "file").write_text("above")
print((base / "lower" / "file").read_text(), (base / "upper" / "file").read_text())
"""


def probe_landlock() -> Finding:
    """Ask the kernel for its Landlock ABI version."""
    if platform.system() != "Linux":
        return Finding("landlock", Status.MISSING, "not Linux", _LINUX_ONLY)
    libc = ctypes.CDLL(None, use_errno=True)
    abi = libc.syscall(_SYS_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_CREATE_RULESET_VERSION)
    return landlock_finding(abi, os.strerror(ctypes.get_errno()) if abi < 0 else "")


def landlock_finding(abi: int, reason: str) -> Finding:
    """Judge the kernel's answer: files are held from ABI 1, TCP ports from ABI 4."""
    if abi < 1:
        advice = "boot a kernel of 5.13 or newer with Landlock in its list of security modules"
        return Finding("landlock", Status.MISSING, reason or "not offered", advice)
    if abi < LANDLOCK_ABI_WITH_NETWORK:
        return Finding("landlock", Status.LIMITED, f"ABI {abi}: files, no network", "Linux 6.7 adds network rules")
    return Finding("landlock", Status.OK, f"ABI {abi}")


def probe_seccomp() -> Finding:
    """Read which seccomp filter actions the kernel offers."""
    if platform.system() != "Linux":
        return Finding("seccomp", Status.MISSING, "not Linux", _LINUX_ONLY)
    try:
        actions = Path("/proc/sys/kernel/seccomp/actions_avail").read_text(encoding="ascii").split()
    except OSError as error:
        return Finding("seccomp", Status.MISSING, str(error.strerror), "needs a kernel with CONFIG_SECCOMP_FILTER")
    if "kill_process" not in actions:
        return Finding("seccomp", Status.LIMITED, " ".join(actions), "Linux 4.14 adds kill_process")
    return Finding("seccomp", Status.OK, " ".join(actions))


def probe_user_namespaces() -> Finding:
    """Let a child enter a user namespace of its own, as an unprivileged sandbox does."""
    name = "user namespaces"
    if platform.system() != "Linux":
        return Finding(name, Status.MISSING, "not Linux", _LINUX_ONLY)
    works, said = answer_of([sys.executable, "-c", _ENTER_USER_NAMESPACE + "print('entered')"])
    if works:
        return Finding(name, Status.OK, "a child entered one")
    return Finding(name, Status.MISSING, said, "allow them (sysctl user.max_user_namespaces), or use another tier")


def probe_overlayfs() -> Finding:
    """Let a child mount an overlay in its own namespaces and write through it."""
    if platform.system() != "Linux":
        return Finding("overlayfs", Status.MISSING, "not Linux", _LINUX_ONLY)
    with tempfile.TemporaryDirectory(prefix="weft-probe-") as folder:
        script = _ENTER_USER_NAMESPACE + _MOUNT_OVERLAY.replace("FOLDER", repr(folder))
        works, said = answer_of([sys.executable, "-c", script])
    if works and said == "below above":
        return Finding("overlayfs", Status.OK, "a child mounted one; writes went to its upper layer")
    return Finding("overlayfs", Status.MISSING, said, "workspaces are copied instead of layered")


def probe_reflink(folder: Path) -> Finding:
    """Try to clone a file in a folder without copying its blocks."""
    advice = "clones of files are copies; btrfs, XFS, bcachefs and APFS share blocks"
    try:
        with tempfile.TemporaryDirectory(prefix=".weft-probe-", dir=folder) as temporary:
            source = Path(temporary, "source")
            source.write_bytes(b"x" * 65536)
            reason = _clone(source, Path(temporary, "clone"))
    except OSError as error:
        return Finding("reflink", Status.MISSING, f"{folder}: {error.strerror}", "run Weft where it may write")
    if reason:
        return Finding("reflink", Status.LIMITED, f"{folder}: {reason}", advice)
    return Finding("reflink", Status.OK, f"{folder} clones files by sharing blocks")


def _clone(source: Path, target: Path) -> str:
    """Clone a file; returns why not, or nothing."""
    if platform.system() == "Darwin":
        libc = ctypes.CDLL(None, use_errno=True)
        cloned = libc.clonefile(os.fsencode(source), os.fsencode(target), 0) == 0
        return "" if cloned else os.strerror(ctypes.get_errno())
    with source.open("rb") as read, target.open("wb") as write:
        try:
            fcntl.ioctl(write.fileno(), _FICLONE, read.fileno())
        except OSError as error:
            return error.strerror or str(error)
    return ""
