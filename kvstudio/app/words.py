"""Numbers in words: bytes, durations, counts."""

BYTE_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def in_bytes(size: float) -> str:
    """Such as `512 bytes`, `8.7 MB`."""
    unit = 0
    while size >= 1000 and unit < len(BYTE_UNITS) - 1:
        size /= 1000
        unit += 1
    number = f"{size:.0f}" if unit == 0 or size >= 100 else f"{size:.1f}"
    return f"{number} {BYTE_UNITS[unit]}"


def in_time(seconds: float) -> str:
    """Such as `less than a second`, `12 s`, `3 min 20 s`, `1 h 5 min`."""
    whole = round(seconds)
    if whole < 1:
        return "less than a second"
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def in_count(number: float) -> str:
    """Such as `811`, `2.1 M`, `118 M`."""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e5, "k")):
        if number >= limit:
            scaled = number / (1e3 if letter == "k" else limit)
            return f"{scaled:.0f} {letter}" if scaled >= 100 else f"{scaled:.1f} {letter}"
    return f"{number:,.0f}"


def counted(number: int, noun: str) -> str:
    """Such as `1 chunk`, `3 chunks`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def as_sentence(words: str) -> str:
    """With a capital first letter, unless it begins with a name, such as a file's."""
    first = words.split(" ", 1)[0]
    return words[:1].upper() + words[1:] if first.isalpha() else words
