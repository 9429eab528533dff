"""How the arms of a union are told apart: decision trees, called with a wire value, answering with an arm's label.

A label is the definition's name or, for an arm without one, a JSON kind. None means that no arm fits; `undecided` then
says why. A decision looks at marks only, never at the whole value: whether the value is what its arm says is for the
decoder to find out, and only that arm's errors are reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from .kinds import NOUNS, JsonObject, alternatives, described, kind_of, quoted, shown

Plan: TypeAlias = "ByTag | ByKey | ByKind | ByItem | Ranked"
Leaf: TypeAlias = "str | Plan"
"""A label, or a further question."""


class _Node:
    """Equality and repr by content. No dataclass: codecs import this at start-up, and those are slow to create."""

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Node) and type(other) is type(self) and other._content() == self._content()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._content().items())})"

    def _content(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__slots__}


class ByTag(_Node):
    """Decide by the string at `member`; `default` serves an absent or unlisted one."""

    __slots__ = ("cases", "default", "member")

    def __init__(self, member: str, cases: Mapping[str, Leaf], default: Leaf | None = None) -> None:
        self.member = member
        self.cases = cases
        self.default = default

    def __call__(self, value: object) -> str | None:
        leaf = self.choose(value)
        return leaf if leaf is None or isinstance(leaf, str) else leaf(value)

    def choose(self, value: object) -> Leaf | None:
        """The first step of the decision only."""
        if not isinstance(value, dict):
            return None
        tag = cast(JsonObject, value).get(self.member)
        return self.cases.get(tag, self.default) if isinstance(tag, str) else self.default


class ByKey(_Node):
    """Decide by the first path of keys that is present in the object; `default` if none is."""

    __slots__ = ("cases", "default")

    def __init__(self, cases: Sequence[tuple[tuple[str, ...], Leaf]], default: Leaf | None = None) -> None:
        self.cases = cases
        self.default = default

    def __call__(self, value: object) -> str | None:
        leaf = self.choose(value)
        return leaf if leaf is None or isinstance(leaf, str) else leaf(value)

    def choose(self, value: object) -> Leaf | None:
        """The first step of the decision only."""
        if not isinstance(value, dict):
            return None
        obj = cast(JsonObject, value)
        for path, leaf in self.cases:
            if _present(obj, path):
                return leaf
        return self.default


class ByKind(_Node):
    """Decide by JSON kind. `integer` is for integral numbers, `number` for all numbers without a case of their own."""

    __slots__ = ("cases",)

    def __init__(self, cases: Mapping[str, Leaf]) -> None:
        self.cases = cases

    def __call__(self, value: object) -> str | None:
        leaf = self.choose(value)
        return leaf if leaf is None or isinstance(leaf, str) else leaf(value)

    def choose(self, value: object) -> Leaf | None:
        """The first step of the decision only."""
        kind = kind_of(value)
        if kind is None:
            return None
        leaf = self.cases.get(kind)
        return self.cases.get("number") if leaf is None and kind == "integer" else leaf


class ByItem(_Node):
    """Decide about an array by its first item; an empty array takes the label `empty`."""

    __slots__ = ("empty", "item")

    def __init__(self, item: Leaf, empty: str) -> None:
        self.item = item
        self.empty = empty

    def __call__(self, value: object) -> str | None:
        if not isinstance(value, list):
            return None
        if not value:
            return self.empty
        return self.item if isinstance(self.item, str) else self.item(cast("list[object]", value)[0])


class Ranked(_Node):
    """No certain mark: the first arm whose required members are all present."""

    __slots__ = ("cases",)

    def __init__(self, cases: Sequence[tuple[tuple[str, ...], str]]) -> None:
        self.cases = cases

    def __call__(self, value: object) -> str | None:
        if not isinstance(value, dict):
            return None
        for required, label in self.cases:
            if all(member in value for member in required):
                return label
        return None


def undecided(plan: Plan, value: Any) -> tuple[tuple[str | int, ...], str]:
    """Why `plan` finds no arm for `value`: the path to the spot, seen from `value`, and the reason."""
    kind = kind_of(value)
    if isinstance(plan, ByItem):
        if kind != "array":
            return (), f"expected an array, got {described(value)}"
        path, reason = undecided(_question(plan.item), value[0])
        return (0, *path), reason
    if isinstance(plan, ByKind):
        step = plan.choose(value)
        if step is not None:
            return undecided(_question(step), value)
        return (), f"expected {alternatives(NOUNS.get(kind, kind) for kind in plan.cases)}, got {described(value)}"
    if kind != "object":
        return (), f"expected an object, got {described(value)}"
    if isinstance(plan, Ranked):
        return (), f"expected an object with {alternatives(_members(*case) for case in plan.cases)}"
    step = plan.choose(value)
    if step is not None:
        return undecided(_question(step), value)
    if isinstance(plan, ByKey):
        return (), f"expected an object with {alternatives(quoted('.'.join(path)) for path, _ in plan.cases)}"
    expected = f"expected {alternatives(map(quoted, plan.cases))}"
    if plan.member not in value:
        return (plan.member,), f"required member is missing, {expected}"
    return (plan.member,), f"{expected}, got {shown(value[plan.member])}"


def _question(leaf: Leaf) -> Plan:
    assert not isinstance(leaf, str), "a label would have decided"
    return leaf


def _members(required: tuple[str, ...], label: str) -> str:
    return f"{' and '.join(map(quoted, required))} ({label})"


def _present(value: JsonObject, path: tuple[str, ...]) -> bool:
    node: Any = value
    for key in path:
        if kind_of(node) != "object" or key not in node:
            return False
        node = node[key]
    return True
