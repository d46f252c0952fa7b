"""Values cross the pipe unchanged."""

from __future__ import annotations

import json
import math
import random
import unittest
from typing import Any

import support  # noqa: F401

from hermes_sessions.values import dump_line, load_line, plain


def cross(value: Any) -> Any:
    line = dump_line({"v": value})
    assert line.endswith(b"\n") and line.count(b"\n") == 1, line
    return load_line(line)["v"]


class Values(unittest.TestCase):
    def test_plain_values_are_plain_json(self) -> None:
        self.assertEqual(dump_line({"a": [1, 1.0, True, None, "é大"]}), '{"a":[1,1.0,true,null,"é大"]}\n'.encode())

    def test_what_json_lacks_is_marked(self) -> None:
        self.assertEqual(dump_line({"a": math.inf}), b'{"a":{"$f":"inf"}}\n')
        self.assertEqual(dump_line({"a": -math.inf}), b'{"a":{"$f":"-inf"}}\n')
        self.assertEqual(dump_line({"a": b"\x00\xff"}), b'{"a":{"$b":"AP8="}}\n')
        self.assertEqual(dump_line({"a": {"$b": "AP8="}}), b'{"a":{"$o":{"$b":"AP8="}}}\n')
        self.assertEqual(dump_line({"a": "\ud800é"}), b'{"a":"\\ud800\\u00e9"}\n')
        self.assertTrue(math.isnan(cross(math.nan)))

    def test_nothing_is_mistaken_for_a_mark(self) -> None:
        for value in (
            {"$f": "nan"},
            {"$o": {"$o": {"$f": 1}}},
            {"$x": b"\x01"},
            {"$b": "QQ==", "other": 1},
            [{"$": []}],
            {"text": '"$f"'},
        ):
            self.assertEqual(cross(value), value)

    def test_integers_and_floats_stay_apart(self) -> None:
        for value in (1, 1.0, 0.1 + 0.2, 5e-324, 2**63 - 1, -(2**63), True):
            got = cross(value)
            self.assertEqual((type(got), got), (type(value), value))

    def test_any_nesting_comes_back(self) -> None:
        seed = random.randrange(2**32)
        dice = random.Random(seed)
        keys = ("$f", "$b", "$o", "$", "a", "", "é", "\ud800")

        def value(depth: int) -> Any:
            kind = dice.randrange(9 if depth else 6)
            if kind < 6:
                return dice.choice((None, True, 7, 2.5, math.inf, b"\x00$", "text", '"$', "\ud800", "\0\n"))
            if kind < 8:
                return {dice.choice(keys): value(depth - 1) for _ in range(dice.randrange(3))}
            return [value(depth - 1) for _ in range(dice.randrange(3))]

        for _ in range(2000):
            sample = value(4)
            self.assertEqual(cross(sample), sample, f"seed {seed}")

    def test_what_can_not_cross_is_refused(self) -> None:
        with self.assertRaises(TypeError):
            dump_line({"v": {1, 2}})
        circle: list[Any] = []
        circle.append(circle)
        with self.assertRaises(ValueError):
            dump_line({"v": circle})

    def test_odd_content_becomes_its_display_text(self) -> None:
        self.assertEqual(plain({1}), "{1}")
        self.assertEqual(plain([{"a": (1, b"x")}]), [{"a": (1, b"x")}])
        self.assertEqual(json.loads(dump_line({"v": (1, (2,))})), {"v": [1, [2]]})


if __name__ == "__main__":
    unittest.main()
