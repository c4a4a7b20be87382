"""Every exception that Weft raises.

Two kinds of trouble are kept apart. Something wrong in the *data* (a spec, a task, a rollout)
is a record (:class:`weft.records.spec.Refusal`, a typed outcome) and the run goes on. An exception
means that the caller asked for something impossible or that a part of Weft failed; its message says
what, which value, and what to do next.

To add one: subclass :class:`WeftError` with a one-line docstring that can stand alone as a message,
pass picklable positional arguments only, and raise it ``from`` its cause.
"""

from __future__ import annotations


class WeftError(Exception):
    """Something in Weft could not be done."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or "").splitlines()[0])


class InputError(WeftError):
    """A file, option or argument from outside is not usable; the message names the value and the way out."""


class FormatError(InputError):
    """Bytes do not hold the record they should; the message names the place and the expected form."""


class IntegrityError(WeftError):
    """A stored artifact differs from what its hash or its contracts say it is."""


class ToolFault(WeftError):
    """A tool of an environment failed by its own fault (an exception, a timeout), not the caller's."""


class ToolRejection(WeftError):
    """A tool refuses a call for a reason that the caller can act on (bad argument, not found, conflict).

    Attributes:
        code: stable word for the kind of refusal, e.g. ``not_found``.
        details: JSON object with what the caller needs, e.g. the argument and its value.
    """

    def __init__(self, code: str, message: str, details: dict[str, object] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.details: dict[str, object] = details or {}

    def __reduce__(self) -> tuple[type[ToolRejection], tuple[str, str, dict[str, object]]]:
        return (type(self), (self.code, str(self), self.details))


class HostError(WeftError):
    """The tool host (not a tool) failed; retryable infrastructure trouble, never a zero reward."""


class SessionClosed(HostError):
    """The session group is closed; open or fork another one."""


class UnknownSnapshot(HostError):
    """No such snapshot in this host; take one with ``snapshot()`` first."""


class ModelError(WeftError):
    """A model endpoint failed or answered with something that is not a chat completion."""


class GraphError(WeftError):
    """A task graph breaks a deterministic check (cycle, conflicting binding, input without a source)."""


class VerifierError(WeftError):
    """A verifier could not be evaluated; the rollout's verdict is unknown, which is not a failure of the policy."""


class TrainingError(WeftError):
    """A training batch or step is not usable; the message names the row or group."""


class MissingExtra(WeftError):
    """An optional dependency is not installed; the message names the extra to install."""
