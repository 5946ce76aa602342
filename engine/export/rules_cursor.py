"""A text of rules, line by line and word by word."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from engine.errors import DataError
from engine.export.rules import KEYWORDS, PLAIN_NAME

_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|inf|nan)(?![\w.])")
_SHOWN = 40  # signs of a line that a message quotes
_MOST_DIGITS = 18  # of a count: Python refuses to read thousands of them


def cursors(text: str) -> Iterator[Cursor]:
    """Yield a cursor for every line that says something."""
    for number, text_line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = text_line.strip()
        if line and not line.startswith("#"):
            yield Cursor(line, number)


class Cursor:
    """A line being read, word by word."""

    def __init__(self, line: str, number: int) -> None:
        self._line, self.number, self._at = line, number, 0

    @property
    def rest(self) -> str:
        """What is not read yet."""
        return self._line[self._skip() :]

    def _skip(self) -> int:
        """Pass over blanks; lines with ten thousand levels are never copied on the way."""
        while self._at < len(self._line) and self._line[self._at].isspace():
            self._at += 1
        return self._at

    def wrong(self, expected: str) -> DataError:
        rest = self.rest
        found = repr(rest[:_SHOWN] + ("…" if len(rest) > _SHOWN else "")) if rest else "the end of the line"
        return DataError(f"line {self.number} of the rules: expected {expected}, found {found}")

    def error(self, complaint: str) -> DataError:
        return DataError(f"line {self.number} of the rules: {complaint}")

    def takes(self, sign: str) -> bool:
        """Pass over a word or a sign if it comes next."""
        at = self._skip()
        if not self._line.startswith(sign, at):
            return False
        after = self._line[at + len(sign) : at + len(sign) + 1]
        if sign[-1].isalnum() and (after.isalnum() or after == "_"):
            return False  # a longer word
        self._at = at + len(sign)
        return True

    def require(self, *signs: str) -> None:
        for sign in signs:
            if not self.takes(sign):
                raise self.wrong(f"'{sign}'")

    def match(self, pattern: re.Pattern[str]) -> str | None:
        """Pass over what fits the pattern and return it; None where nothing does."""
        found = pattern.match(self._line, self._skip())
        if found is None:
            return None
        self._at = found.end()
        return found[0]

    def text(self) -> str | None:
        word = self.match(_TEXT)
        if word is None:
            return None
        try:
            return str(json.loads(word))
        except ValueError as error:
            raise self.error(f"{word[:_SHOWN]} is no text in JSON's way of quoting ({error})") from None

    def name(self) -> str:
        """Read a column's name: a text in quotes or a plain word."""
        word = self.text()
        if word is None:
            before = self._at
            word = self.match(PLAIN_NAME)
            if word in KEYWORDS:
                self._at, word = before, None
        if word is None:
            raise self.wrong("a column's name, in double quotes unless it is a plain word")
        return word

    def number_word(self) -> str:
        word = self.match(_NUMBER)
        if word is None:
            raise self.wrong("a number")
        return word

    def float(self) -> float:
        return float(self.number_word())

    def count(self) -> int:
        word = self.number_word()
        if not word.isdecimal() or len(word) > _MOST_DIGITS:
            raise self.error(f"{word} is no whole number from 0")
        return int(word)

    def literal(self) -> Any:
        """Read a label or level, of the type it is written in."""
        word = self.text()
        if word is not None:
            return word
        for name, value in (("true", True), ("false", False)):
            if self.takes(name):
                return value
        number = self.match(_NUMBER)
        if number is None:
            raise self.wrong("a text in double quotes, a number, true or false")
        return int(number) if re.fullmatch(r"-?\d+", number) else float(number)

    def literals(self) -> list[Any]:
        found = [self.literal()]
        while self.takes(","):
            found.append(self.literal())
        return found

    def end(self) -> None:
        if self.rest:
            raise self.wrong("the end of the line")
