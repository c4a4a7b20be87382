"""Why one tool is not drafted, raised inside the rules author and turned into a typed refusal at its edge."""

from weft.records.spec import Refusal, RefusalCode


class Refused(Exception):
    """A tool cannot be drafted soundly.

    Attributes:
        code: the kind.
        message: what is wrong.
        remedy: what its author can do.
        path: JSON path inside the declaration.
        value: the offending value.
    """

    def __init__(self, code: RefusalCode, message: str, remedy: str, *, path: str = "", value: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.remedy = remedy
        self.path = path
        self.value = value

    def refusal(self, subject: str) -> Refusal:
        """The refusal of ``subject``, e.g. ``notes/create_note``."""
        return Refusal(
            code=self.code,
            subject=subject,
            message=self.message,
            remedy=self.remedy,
            path=self.path,
            value=self.value[:200],
        )
