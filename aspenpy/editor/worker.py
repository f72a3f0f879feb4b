"""Worker: a process of its own that works out what models mean, so that typing never waits for it."""

from __future__ import annotations

from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from aspenpy.editor.meaning import NOTHING, Meaning, Question, meaning_of

LONGEST = 30.0  # seconds that one model is worked on; then the process is ended, and a new one begun for the next


class Worker:
    """Answers one question after the other, for one thread."""

    def __init__(self, longest: float = LONGEST) -> None:
        self.longest = longest
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None

    def answer(self, question: Question) -> Meaning:
        """What the file means; where that takes too long or ends the process, what went wrong."""
        connection = self._start()
        try:
            connection.send(question)
            if connection.poll(self.longest):
                answer: Meaning = connection.recv()
                return answer
            trouble = f"the model was not checked: it takes more than {self.longest:g} s"
        except (EOFError, OSError):
            trouble = "the model was not checked: the process that does so has ended"
        self.stop()
        return NOTHING._replace(trouble=trouble)

    def stop(self) -> None:
        """Ends the process, whatever it does. Another thread may call this, which ends a question that is worked on."""
        process, connection = self._process, self._connection
        self._process = self._connection = None
        if process is not None and connection is not None:
            process.kill()
            process.join()
            connection.close()

    def _start(self) -> Connection:
        if self._connection is None or self._process is None or not self._process.is_alive():
            self.stop()
            context = get_context("spawn")
            connection, theirs = context.Pipe()
            process = context.Process(target=work, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            # Kept once it runs: `stop`, which another thread may call meanwhile, can end no process that has not begun.
            self._process, self._connection = process, connection
        return self._connection


def work(connection: Connection) -> None:
    """Answers questions until nobody asks any more."""
    while True:
        try:
            question = connection.recv()
        except EOFError:
            return
        try:
            answer = meaning_of(question)
        except (ArithmeticError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as error:
            answer = NOTHING._replace(trouble=f"the model was not checked: {type(error).__name__}")
        connection.send(answer)
