"""The reader of a user's own block list: what it reads, and one tiny file for each defect."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.parameters.blocks import read_blocks
from gangopt.instances.parameters.generate import blocks


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("9408\n64\n", [(9408,), (64,)]),
        ("64,3,7,7\n64x3x7x7\n(64, 3, 7, 7)\n64 x 3", [(64, 3, 7, 7)] * 3 + [(64, 3)]),
        ("# sizes\n\n 64 # bias\n", [(64,)]),
        ("[3L, 9408L]", [(3,), (9408,)]),
        ("[3L,\n 9408L]\n5", [(3,), (9408,), (5,)]),
        ("[(64, 3), 7, (5,)]", [(64, 3), (7,), (5,)]),
        ("(64L, 3L)\n(5,)\n64L", [(64, 3), (5,), (64,)]),
        ("[1L, 2]\n[3]", [(1,), (2,), (3,)]),
        ("[64, 3, 7, 7]", [(64,), (3,), (7,), (7,)]),
        ("torch.Size([64, 3, 7, 7])\ntorch.Size([64])\ntorch.Size([])", [(64, 3, 7, 7), (64,), (1,)]),
        ("[64, [3, 7]]", [(64,), (3, 7)]),
        ("﻿12", [(12,)]),
    ],
)
def test_text_lists(tmp_path, text, shapes):
    file = tmp_path / "sizes.txt"
    file.write_text(text, encoding="utf-8")
    assert read_blocks(str(file)) == [(f"block{index}", shape) for index, shape in enumerate(shapes)]


def test_names_in_text(tmp_path):
    file = tmp_path / "sizes.txt"
    file.write_text("conv0_weight: 64,3,7,7\n12\n", encoding="utf-8")
    assert read_blocks(str(file)) == [("conv0_weight", (64, 3, 7, 7)), ("block1", (12,))]
    file.write_text("a.weight \ttorch.Size([64, 3])\nb: torch.Size([5])\nc: [64, 3, 7, 7]\nd: [64]\n", encoding="utf-8")
    named = [("a.weight", (64, 3)), ("b", (5,)), ("c", (64, 3, 7, 7)), ("d", (64,))]
    assert read_blocks(str(file)) == named


def test_brackets_that_may_be_a_shape_or_sizes_are_refused(tmp_path):
    # shapes printed one a line: 9,472 parameters in 2 blocks, and not 145 in 5
    file = tmp_path / "shapes.txt"
    file.write_text("[64, 3, 7, 7]\n[64]\n", encoding="utf-8")
    message = (
        "line 1: '[64, 3, 7, 7]' is ambiguous; write '(64, 3, 7, 7)' for one shape, or write the 4 sizes on separate "
        "lines"
    )
    with pytest.raises(InputError, match=re.escape(message)):
        blocks(str(file), 2)
    file.write_text("(64, 3, 7, 7)\n[64]\n", encoding="utf-8")
    assert blocks(str(file), 2).sizes.tolist() == [9408, 64]


@pytest.mark.parametrize(
    ("value", "listed"),
    [
        ([9408, 64], [("block0", (9408,)), ("block1", (64,))]),
        ([[64, 3, 7, 7], 64], [("block0", (64, 3, 7, 7)), ("block1", (64,))]),
        ({"fc_weight": [10, 4], "fc_bias": 10}, [("fc_weight", (10, 4)), ("fc_bias", (10,))]),
    ],
)
@pytest.mark.parametrize("name", ["sizes.json", "sizes.txt"])
def test_json(tmp_path, value, listed, name):
    file = tmp_path / name
    file.write_text(json.dumps(value), encoding="utf-8")
    assert read_blocks(str(file)) == listed


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "", "no blocks found"),
        ("a.txt", "# only a comment\n", "no blocks found"),
        (
            "a.txt",
            "64\n-3\n",
            "a.txt, line 2: an entry must be a size or shape, e.g. 64x3x7x7 (got '-3')",
        ),
        (
            "a.txt",
            "64\n3.5\n",
            "a.txt, line 2: an entry must be a size or shape, e.g. 64x3x7x7 (got '3.5')",
        ),
        ("a.txt", "64\n\n0\n", "a.txt, line 3: a dimension must be an integer from 1 to 1e15 (got 0)"),
        (
            "a.txt",
            "64,\n64,,3",
            "a.txt, line 2: an entry must be a size or shape, e.g. 64x3x7x7 (got '64,,3')",
        ),
        (
            "a.txt",
            "64 3",
            "a.txt, line 1: an entry must be a size or shape, e.g. 64x3x7x7 (got '64 3')",
        ),
        (
            "a.txt",
            "nan",
            "a.txt, line 1: an entry must be a size or shape, e.g. 64x3x7x7 (got 'nan')",
        ),
        (
            "a.txt",
            "1e6",
            "a.txt, line 1: an entry must be a size or shape, e.g. 64x3x7x7 (got '1e6')",
        ),
        (
            "a.txt",
            "__import__('os').getcwd()",
            "a.txt, line 1: an entry must be a size or shape, e.g. 64x3x7x7 (got",
        ),
        ("a.txt", "[3L, 4L", "line 1: '[' is not closed"),
        ("a.txt", "[3L, 4L)\n]", "a.txt, line 1: unexpected ')' in '[3L, 4L) ]'"),
        ("a.txt", "[3L 4L]", "a.txt, line 1: unexpected '4' in '[3L 4L]'"),
        ("a.txt", "[(3, (4)), 5L]", "a.txt, line 1: unexpected '(' in '[(3, (4)), 5L]'"),
        ("a.txt", "[(3, 5L]", "'(' is not closed"),
        ("a.txt", "[(), 5L]", "a.txt, line 1: unexpected ')' in '[(), 5L]'"),
        ("a.txt", "[3L, x]", "a.txt, line 1: expected an integer, bracket or comma at 'x]'"),
        ("a.txt", "[3L] 4", "'[' is not closed"),
        ("a.txt", "[3L], [4L]", "a.txt, line 1: unexpected ']' in '[3L], [4L]'"),
        (
            "a.txt",
            "torch.Size([64, x])",
            "a.txt, line 1: an entry must be a size or shape, e.g. 64x3x7x7 (got '64, x')",
        ),
        ("a.txt", "9" * 400, "a.txt, line 1: an integer must have at most 15 digits (got 400)"),
        (
            "a.txt",
            "9999999999999999",
            "a.txt, line 1: a dimension must be an integer from 1 to 1e15 (got 9999999999999999)",
        ),
        ("a.txt", ": 64", "the name of a block must not be empty"),
        ("a.txt", "a: b: 64\na: 64\na: 65", "duplicate label 'a'"),
        ("a.json", "[64, ", "not JSON, or cut off"),
        ("a.json", "64", "a list of sizes or shapes, or an object"),
        ("a.json", "[]", "no blocks found"),
        ("a.json", "[64, -3]", "a.json: entry 1: a dimension must be an integer from 1 to 1e15 (got -3)"),
        ("a.json", "[64, 3.5]", "a.json: entry 1: a dimension must be an integer from 1 to 1e15 (got 3.5)"),
        ("a.json", "[64, true]", "a.json: entry 1: a dimension must be an integer from 1 to 1e15 (got True)"),
        ("a.json", '[64, "3"]', "a.json: entry 1: a dimension must be an integer from 1 to 1e15 (got '3')"),
        ("a.json", "[64, []]", "a.json: entry 1: a shape must have at least one dimension"),
        ("a.json", "[64, NaN]", "NaN is not valid JSON"),
        ("a.json", '{"a": 1, "a": 2}', "duplicate key 'a' (1 and 2)"),
        ("a.json", '{" ": 1}', "the name of a block must not be empty"),
        ("a.json", '{"a": {"b": 1}}', "a.json: 'a': a dimension must be an integer from 1 to 1e15 (got {'b': 1})"),
    ],
)
def test_each_defect_is_named_with_its_place(tmp_path, name, text, message):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        blocks(str(file), 2)
    assert "\n" not in str(caught.value)


def test_absent_files_and_directories_are_named(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_blocks(str(tmp_path / "absent.txt"))
    with pytest.raises(InputError, match="is a directory"):
        read_blocks(str(tmp_path))


def test_too_many_blocks_are_refused(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("1\n" * 100_001, encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.txt: too many blocks, at"):
        read_blocks(str(file))


def test_a_file_is_an_instance_by_name(tmp_path):
    file = tmp_path / "sizes.txt"
    file.write_text("7\n5\n4\n", encoding="utf-8")
    instance = gangopt.load(f"parameters/blocks?file={file}&servers=3")
    assert instance.sizes.tolist() == [7, 5, 4]
    assert instance.servers == 3


def outcome(file):
    """Return what became of a file: the sizes, or the one line that says why not."""
    try:
        return blocks(str(file), 2).sizes.tolist()
    except InputError as error:
        message = str(error)
    return message if "\n" not in message else ""


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="0123456789[]()xL,.:# \n\"'{}-+eENa_\t\r", max_size=60), st.sampled_from(["a.txt", "a.json"]))
def test_no_text_leads_to_anything_but_blocks_or_an_input_error(tmp_path_factory, text, name):
    file = tmp_path_factory.getbasetemp() / name
    file.write_text(text, encoding="utf-8")
    assert outcome(file) != ""


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_lead_to_anything_but_blocks_or_an_input_error(tmp_path_factory, content):
    file = tmp_path_factory.getbasetemp() / "bytes.txt"
    file.write_bytes(content)
    assert outcome(file) != ""
