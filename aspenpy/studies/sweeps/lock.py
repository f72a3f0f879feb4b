"""Lock: a file that one process at a time has."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


class Lock:
    """Ends with the process, however that ends. Where the system knows no such locks, everybody gets it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def taken(self) -> bool:
        """Takes it, unless another has it."""
        self.release()
        try:
            import fcntl
        except ImportError:
            return True
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                return False
            except OSError:  # a file system without locks
                pass
            with suppress(FileNotFoundError):  # whoever had it may have removed it before we got it
                if os.path.samestat(os.fstat(descriptor), self.path.stat()):
                    self._descriptor = descriptor
                    return True
            os.close(descriptor)

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        self.release()
