"""A diff for people and for programs: gathered into sections, on a terminal, or as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .diff import Change, Diff, Side

_SEVERAL = 3
_PLAIN, _BOLD, _DIM, _RED, _YELLOW, _GREEN = "0", "1", "2", "31", "33", "32"


@dataclass(frozen=True)
class Line:
    """One change, or the same change of several types; `subjects` are those, `place` is what they share."""

    kind: str
    sign: str
    place: str
    text: str
    breaks: frozenset[Side]
    subjects: tuple[str, ...] = ()

    @property
    def who(self) -> str:
        """Whom it breaks, in a word."""
        return "both" if len(self.breaks) == 2 else next((_WHO[side] for side in self.breaks), "")


@dataclass(frozen=True)
class Section:
    title: str
    lines: tuple[Line, ...]


_WHO: Mapping[Side, str] = {"reading": "reads", "writing": "writes"}


def sections(diff: Diff) -> tuple[Section, ...]:
    """The changes by topic. What several types have in common comes first, and once."""
    alike: dict[tuple[object, ...], list[Change]] = {}
    for change in diff.changes:
        alike.setdefault(_alike(change), []).append(change)
    common = {key: group for key, group in alike.items() if key and len(group) >= _SEVERAL}
    found = [Section("several types", tuple(_gathered(group) for group in common.values()))]
    for topic in dict.fromkeys(change.topic for change in diff.changes):
        rest = [c for c in diff.changes if c.topic == topic and _alike(c) not in common]
        lines = tuple(Line(c.kind, c.sign, c.place, c.text, c.breaks) for c in rest)
        found.append(Section(diff.titles[topic].strip("`"), lines))
    return tuple(section for section in found if section.lines)


def summary(diff: Diff) -> str:
    """The counts in one sentence."""
    if not diff.changes:
        return "no changes"
    many = f"{len(diff.changes)} change{'s' if len(diff.changes) > 1 else ''}"
    if not diff.breaking():
        return f"{many}, none breaking"
    sides = f"{len(diff.breaking('reading'))} for who reads, {len(diff.breaking('writing'))} for who writes"
    return f"{many}, {len(diff.breaking())} breaking: {sides}"


def terminal(diff: Diff, colour: bool, width: int = 100) -> Iterator[str]:
    """The diff for a terminal: whom it breaks, then the sign, then what; whole types by name only."""
    paint = _paint if colour else _unpainted
    yield paint(f"MCP {diff.old} -> {diff.new}", _BOLD)
    yield summary(diff)
    if diff.breaking():
        yield paint("first column: whose code breaks", _DIM)
    for section in sections(diff):
        yield ""
        yield paint(section.title, _BOLD)
        for line in _short(section.lines):
            style = {"both": _RED, "": _GREEN if line.sign == "+" else _DIM}.get(line.who, _YELLOW)
            text = f"{line.place}: {line.text}" if line.place else line.text
            if line.subjects:
                text += f", in {', '.join(line.subjects)}"
            first, *more = textwrap.wrap(text, max(width - 11, 40), break_long_words=False, break_on_hyphens=False)
            yield f"  {paint(f'{line.who:6} {line.sign}', style)} {first}"
            yield from (f"             {part}" for part in more)


def document(diff: Diff) -> dict[str, Any]:
    """The diff as a JSON object, every change on its own."""
    return {
        "from": diff.old,
        "to": diff.new,
        "changes": [
            {
                "topic": change.topic,
                "kind": change.kind,
                "sign": change.sign,
                "subject": change.subject,
                "member": change.member or None,
                "text": change.text,
                "breaks": sorted(change.breaks),
            }
            for change in diff.changes
        ],
        "renamed": {
            "types": dict(diff.renamed.types),
            "members": {f"{record}.{old}": new for (record, old), new in diff.renamed.members.items()},
        },
        "breaking": {"reading": len(diff.breaking("reading")), "writing": len(diff.breaking("writing"))},
    }


def _alike(change: Change) -> tuple[object, ...]:
    """What several types may have in common; empty for what stands alone."""
    if change.kind in ("member", "base") or change.text == "deprecated":
        return change.kind, change.sign, change.member, change.text, change.breaks
    return ()


def _gathered(group: Sequence[Change]) -> Line:
    change = group[0]
    return Line(change.kind, change.sign, change.member, change.text, change.breaks, tuple(c.subject for c in group))


def _short(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines with what came or went at the same place joined: whole types by name, arms and values."""
    joined: dict[tuple[str, str, str], list[Line]] = {}
    for line in lines:
        whole = line.kind == "type" and line.sign != "~"
        key = ("type", line.sign, "") if whole else (line.kind, line.sign, line.place)
        joined.setdefault(key, []).append(line)
    for (kind, sign, _), group in joined.items():
        first = group[0]
        if kind == "type" and sign != "~" and not first.subjects:
            words = "types added" if sign == "+" else "types removed"
            yield replace(first, place=words, text=", ".join(line.place for line in group))
        elif kind == "arm":
            rest = [line.text.removeprefix("no longer ").removeprefix("may also be ") for line in group[1:]]
            yield replace(first, text=", ".join([first.text, *rest]))
        else:
            yield from group


def _paint(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[{_PLAIN}m"


def _unpainted(text: str, style: str) -> str:
    return text
