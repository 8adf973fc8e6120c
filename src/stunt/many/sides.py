"""Sides of a comparison as they are typed: a servo, a help, keys of a setting, or somebody's own controller.

| typed | means |
|---|---|
| `default` | everything as it comes |
| `parent` | a word that only one key knows: `servo: parent` |
| `servo=parent,gain=2` | these keys of a setting |
| `soft:gain=0.3` | the same, under a name |
| `balance`, `mymodule:Policy` | a registered controller, or one's own (`controller: mymodule:Policy`) |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from stunt.errors import InvalidValueError, StuntError, UnknownNameError
from stunt.keys import Choice, declared
from stunt.many.setting import setting_keys
from stunt.script.sections.clips import ClipsPart
from stunt.supervise.registry import maker_of, registered

AS_IT_COMES: Final = "default"
_TRUTHS: Final = {"true": True, "false": False, "yes": True, "no": False}


def sides_of(typed: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return settings by their names.

    Args:
        typed: One text each.

    Raises:
        StuntError: One says nothing that is known, or two have one name.
    """
    found: dict[str, dict[str, Any]] = {}
    for text in typed:
        name, setting = _side(text)
        if name in found:
            raise StuntError(f"two sides are called '{name}'; write NAME:KEY=VALUE to give one another name.")
        found[name] = setting
    return found


def _side(text: str) -> tuple[str, dict[str, Any]]:
    name, colon, keys = text.partition(":")
    if colon and "=" not in name and "=" in keys:
        return name, keys_of_text(keys)
    if "=" in text:
        return text, keys_of_text(text)
    if colon:
        maker_of(text)  # complains now, not in every run
        return keys, {"controller": text}
    return text, {} if text == AS_IT_COMES else _by_word(text)


def keys_of_text(text: str) -> dict[str, Any]:
    """Return the setting that `KEY=VALUE,…` means.

    Raises:
        StuntError: It is no such text, or a key is not known.
    """
    found = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not (key and equals and value):
            raise InvalidValueError("a side", text, "KEY=VALUE, and more of them with commas between")
        if key not in setting_keys():
            raise UnknownNameError("key of a setting", key, setting_keys())
        found[key] = _value(value)
    return found


def _value(text: str) -> Any:
    if text in _TRUTHS:
        return _TRUTHS[text]
    try:
        return float(text)
    except ValueError:
        return text


def _by_word(word: str) -> dict[str, Any]:
    """Return the setting that a word alone means: the one key that has it among its choices."""
    words = {
        option: entry.name
        for entry in declared(ClipsPart)
        if isinstance(entry.kind, Choice) and entry.name in setting_keys()
        for option in entry.kind.options
    }
    if word in registered():
        return {"controller": word}
    if word not in words:
        raise UnknownNameError("side", word, (AS_IT_COMES, *words, *registered(), "KEY=VALUE", "module:Class"))
    return {words[word]: word}
