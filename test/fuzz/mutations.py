"""Texts and bytes with something changed, so that they are nearly right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Final

_TOKEN: Final = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|[A-Za-z_][\w.$]*|[%@!#^][\w.$-]+|\d+(?:\.\d+)?|\s+|.',
    re.DOTALL,
)

NUMBERS: Final = (
    *("0", "1", "2", "3", "7", "8", "64", "65", "255", "256", "4096", "65536"),
    *("2147483647", "2147483648", "4294967296", "9223372036854775807"),
    *("9223372036854775808", "18446744073709551616", "1000000000000000000000000"),
    *("0.5", "1e308", "1e-308", "1e400", "-1", "0x7F", "1_000"),
)

WORDS: Final = (
    *("{", "}", "(", ")", "[", "]", "<", ">", ",", ":", "=", "->", "-", "+", "*", "?"),
    *(
        "\\",
        '"',
        "'",
        "%",
        "@",
        "^bb0:",
        "//",
        "\n",
        "\t",
        "\x00",
        "\x1b[31m",
        "\u202e",
    ),
    *("\ud7ff", "\ufeff", "\u00e9", "e", "x", "0x", "i", "inf", "nan", "...", ";"),
)

_LARGEST = 200_000


def tokens(text: str) -> list[str]:
    """The words, numbers, signs and spaces of a text."""
    return _TOKEN.findall(text)


def mutated(text: str, donors: Sequence[str], random: Random) -> str:
    """A text with one to a few changes; words may come from the donors."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        text = random.choice(_CHANGES)(text, donors, random)[:_LARGEST]
    return text


def _number(text: str, donors: Sequence[str], random: Random) -> str:
    """Another number in the place of one."""
    del donors
    places = [found.span() for found in re.finditer(r"\d+(\.\d+)?", text)]
    if not places:
        return text
    start, end = random.choice(places)
    return text[:start] + random.choice(NUMBERS) + text[end:]


def _token(text: str, donors: Sequence[str], random: Random) -> str:
    """A token removed, doubled, swapped, or replaced by one of a donor."""
    own = tokens(text)
    if not own:
        return text
    place = random.randrange(len(own))
    match random.randrange(5):
        case 0:
            del own[place]
        case 1:
            own.insert(place, own[place])
        case 2:
            other = random.randrange(len(own))
            own[place], own[other] = own[other], own[place]
        case 3:
            own[place] = random.choice(tokens(random.choice(donors)) or [""])
        case _:
            own.insert(place, random.choice(WORDS))
    return "".join(own)


def _lines(text: str, donors: Sequence[str], random: Random) -> str:
    """Lines removed, doubled, moved, or taken from a donor."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    start = random.randrange(len(lines))
    end = min(len(lines), start + random.choice((1, 1, 2, 4)))
    match random.randrange(4):
        case 0:
            del lines[start:end]
        case 1:
            lines[start:start] = lines[start:end]
        case 2:
            piece = lines[start:end]
            del lines[start:end]
            place = random.randrange(len(lines) + 1)
            lines[place:place] = piece
        case _:
            other = random.choice(donors).splitlines(keepends=True) or [""]
            lines.insert(start, random.choice(other))
    return "".join(lines)


def _repeated(text: str, donors: Sequence[str], random: Random) -> str:
    """A piece many times, as in deep nesting and long lists."""
    del donors
    own = tokens(text)
    if not own:
        return text
    start = random.randrange(len(own))
    end = min(len(own), start + random.choice((1, 1, 2, 3, 6)))
    own[start:end] = own[start:end] * random.choice((2, 3, 10, 100, 2000))
    return "".join(own)


def _characters(text: str, donors: Sequence[str], random: Random) -> str:
    """A character removed or put in."""
    del donors
    place = random.randrange(len(text) + 1)
    if random.random() < 0.5:
        return text[:place] + text[place + 1 :]
    return (
        text[:place]
        + chr(random.choice((0, 9, 27, 127, 0x202E, 65, 48)))
        + text[place:]
    )


_CHANGES: Final = (
    _number,
    _number,
    _token,
    _token,
    _token,
    _lines,
    _repeated,
    _characters,
)


def mutated_bytes(content: bytes, random: Random) -> bytes:
    """Bytes with one to a few changes."""
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 4, 16))):
        place = random.randrange(len(changed) + 1)
        match random.randrange(5):
            case 0 if place < len(changed):
                changed[place] ^= 1 << random.randrange(8)
            case 1 if place < len(changed):
                changed[place] = random.randrange(256)
            case 2:
                del changed[place : place + random.choice((1, 2, 8, 64))]
            case 3:
                changed[place:place] = random.randbytes(random.choice((1, 2, 8)))
            case _:
                del changed[place:]
    return bytes(changed)
