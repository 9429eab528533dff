"""JSON text to plain values, strictly and with errors worth reading.

Slower than what the styles use, so only for the text that those refuse: this settles whether and why it is not JSON.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import NoReturn


class InvalidJSON(ValueError):
    """The text is not JSON. The message says where and why."""


def parse_json(data: bytes | str) -> object:
    """The value that `data` (UTF-8 if bytes) stands for. Integers are exact; of duplicate keys the last one counts.

    NaN and Infinity are not JSON, neither are numbers that no float can hold.
    """
    try:
        return _DECODER.decode(data if isinstance(data, str) else data.decode())
    except UnicodeDecodeError as error:
        raise InvalidJSON(f"not valid UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        raise InvalidJSON(f"not valid JSON: {reason} (line {error.lineno}, column {error.colno})") from None
    except InvalidJSON:
        raise
    except ValueError:  # Python's guard against integers whose conversion would take forever
        raise InvalidJSON("not valid JSON: an integer is too long") from None
    except RecursionError:
        raise InvalidJSON("not valid JSON: nested too deeply") from None


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise InvalidJSON(f"not valid JSON: the number {text[:30]} is out of range")
    return number


def _refuse(name: str) -> NoReturn:
    raise InvalidJSON(f"not valid JSON: {name} is not a JSON number")


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)
