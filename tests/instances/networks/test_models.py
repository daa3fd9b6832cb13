import pytest

from gangopt.base.errors import InputError
from gangopt.instances.networks.models import MODELS, tensor_model

# size (MiB), tensors, tensors above 1 MiB, largest (MiB), largest / size (%): Tiresias (NSDI 2019), table 6
TABLE = {
    "vgg19": (548.1, 39, 15, 392.0, 71.5),
    "vgg16": (527.8, 33, 12, 392.0, 74.3),
    "vgg11": (506.8, 23, 9, 392.0, 77.3),
    "alexnet": (235.9, 17, 7, 144.0, 61.0),
    "resnet152": (230.2, 778, 48, 9.0, 3.9),
    "resnet101": (170.4, 523, 35, 9.0, 5.3),
    "resnet50": (97.7, 268, 18, 9.0, 9.2),
    "inception4": (162.9, 599, 81, 5.9, 3.6),
    "inception3": (91.0, 397, 21, 7.8, 8.6),
    "googlenet": (26.7, 117, 7, 3.9, 14.6),
}


def test_the_ten_models_are_those_of_the_table():
    assert tuple(TABLE) == MODELS


@pytest.mark.parametrize("name", MODELS)
def test_model_has_the_figures_of_the_published_table(name):
    model = tensor_model(name)
    size, count, large, largest, share = TABLE[name]
    assert round(model.size, 1) == size
    assert len(model.tensors) == count
    assert sum(item > 1 for item in model.sizes) == large
    assert round(model.largest, 1) == largest
    assert round(100 * model.skew, 1) == share


def test_large_tensors_of_a_computed_model_are_the_published_ones():
    large = sorted((round(size, 1) for size in tensor_model("resnet50").sizes if size > 1), reverse=True)
    assert large == [9.0] * 3 + [8.0, 7.8] + [4.0] * 5 + [2.2] * 6 + [2.0] * 2  # 2.25 MiB is printed as 2.3
    assert sorted((round(size, 1) for size in tensor_model("alexnet").sizes if size > 1), reverse=True) == [
        *(144.0, 64.0, 15.6, 5.1, 3.4, 2.5, 1.2)
    ]


def test_listed_model_spreads_its_remainder_and_says_so():
    model = tensor_model("inception3")
    assert "remainder" not in model.source
    assert "assumed equal" in model.source
    rest = {size for label, size in model.tensors if label.startswith("remainder")}
    assert len(rest) == 1
    assert 0 < rest.pop() < 1


def test_unknown_model_gives_near_matches():
    with pytest.raises(InputError, match=r"unknown model 'vgg17'; did you mean 'vgg19', 'vgg16' or 'vgg11'\?"):
        tensor_model("vgg17")
