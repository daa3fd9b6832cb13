"""Lines for defects that all files share."""

import pytest

from gangopt.base.errors import InputError
from gangopt.catalogue import load, read_document, to_document
from gangopt.instances.parameters.instance import ParametersInstance

TINY = "parameters/random?blocks=2&servers=2&seed=1"


def test_an_instance_beyond_the_limits_of_files_is_refused_in_words():
    instance = ParametersInstance(name="n" * 600, shapes=((3,),), servers=1, labels=("a",))
    with pytest.raises(InputError, match=r"field name: string should have at most 500 characters") as error:
        to_document(instance)
    assert len(str(error.value)) < 400


def test_what_a_file_type_finds_late_is_one_line_too(monkeypatch):
    from gangopt.instances.parameters.document import BlockDocument, ParametersDocument

    def late(_document):
        return BlockDocument(label="", shape=[])

    monkeypatch.setattr(ParametersDocument, "to_instance", late)
    with pytest.raises(
        InputError, match=r"^x: field label: string should have at least 1 character .given: ''.; 1 more"
    ):
        read_document(to_document(load(TINY)), "x")


@pytest.mark.parametrize("field", ["name", "description", "source"])
def test_texts_with_control_characters_are_refused(field):
    document = {**to_document(load(TINY)), field: "a\x1b[2Jb"}
    with pytest.raises(InputError, match=rf"x: {field}: .*character 1 .'\\x1b'. cannot be printed"):
        read_document(document, "x")


def test_descriptions_may_have_lines():
    document = {**to_document(load(TINY)), "description": "one\n\ttwo"}
    assert read_document(document, "x").description == "one\n\ttwo"


@pytest.mark.parametrize("label", ["a\x00", "a\u202eb", "a\u2028b", "\x7f"])
def test_labels_with_control_characters_are_refused(label):
    document = to_document(load(TINY))
    document["blocks"][0]["label"] = label
    with pytest.raises(InputError, match=r"field blocks\.0\.label: character \d .* cannot be printed"):
        read_document(document, "x")


def test_long_values_are_cut():
    document = {**to_document(load(TINY)), "x" * 5000: "y" * 5000}
    with pytest.raises(InputError) as error:
        read_document(document, "z" * 5000)
    assert len(str(error.value)) < 500
