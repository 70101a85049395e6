"""Answers the newest question; older ones that nobody has begun with are forgotten."""

import queue
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Question = TypeVar("Question")


class Latest(Generic[Question]):
    """Calls `answer` on a thread of its own, never for two questions at once."""

    def __init__(self, answer: Callable[[Question], None], name: str) -> None:
        self._answer = answer
        self._asked: queue.SimpleQueue[Question] = queue.SimpleQueue()
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def ask(self, question: Question) -> None:
        self._asked.put(question)

    def _work(self) -> None:
        while True:
            question = self._asked.get()
            while not self._asked.empty():
                question = self._asked.get()
            self._answer(question)
