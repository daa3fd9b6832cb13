import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.catalogue import load
from gangopt.instances.networks.models import MODELS, tensor_model
from gangopt.instances.threshold.generate import FIGURE3, figure3, history, random

GOOD = "job,skew,ratio,size,weight\na,0.7,0.8,500,1\nb,0.1,1.02,90,2.5\n"


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "history.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def test_a_history_is_read_in_any_order_of_columns(written):
    path = written(GOOD)
    instance = load(f"threshold/history?file={path}")
    assert instance.name == f"threshold/history?file={path}"
    assert (instance.jobs, instance.features) == (("a", "b"), ("skew", "size"))
    assert instance.values.tolist() == [[0.7, 500], [0.1, 90]]
    assert instance.ratio.tolist() == [0.8, 1.02]
    assert instance.job_weights.tolist() == [1, 2.5]
    assert load(f"threshold/history?file={path}&limit=1.5").sensitive.tolist() == [True, True]
    assert history(written("skew,ratio,job\n\n0.5,0.9, x \n")).jobs == ("x",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty file; the header must have job,ratio"),
        ("job,skew,ratio\n", "no rows after the header"),
        ("job,skew\na,1\n", "missing column ratio; the header must have job,ratio"),
        ("skew,ratio\n1,1\n", "missing column job; the header must have job,ratio"),
        ("job,skew,ratio,skew\na,1,1,1\n", "duplicate column 'skew'"),
        ("job,,ratio\na,1,1\n", "unknown column ''; the header must have job,ratio"),
        ("job,ratio\na,1\n", r"history\.csv: no features; add a column besides job, ratio and weight, e\.g\. skew"),
        ("job,skew,ratio\na,1\n", r"line 2 must have 3 fields \(got 2\)"),
        ("job,skew,ratio\na,1,1,1\n", r"line 2 must have 3 fields \(got 4\)"),
        ("job,skew,ratio\na,big,1\n", r"line 2, column skew must be a number from -1e12 to 1e12 \(got 'big'\)"),
        ("job,skew,ratio\na,nan,1\n", r"line 2, column skew must be a number from -1e12 to 1e12 \(got 'nan'\)"),
        ("job,skew,ratio\na,,1\n", r"line 2, column skew must be a number from -1e12 to 1e12 \(got ''\)"),
        ("job,skew,ratio\na,1e15,1\n", r"line 2, column skew must be a number from -1e12 to 1e12 \(got"),
        ("job,skew,ratio\na,1,-1\n", r"line 2, column ratio must be a number from 0 to 1e12 \(got"),
        ("job,skew,ratio\na,1,0\n", r"history\.csv: ratio\[0\] must be a number > 0 and <= 1e12 \(got 0\.0\)"),
        (
            "job,skew,ratio,weight\na,1,1,0\n",
            r"history\.csv: weights\[0\] must be a number > 0 and <= 1e12 \(got 0\.0\)",
        ),
        ("job,skew,ratio\n,1,1\n", "line 2, column job must not be empty"),
        ("job,skew,ratio\na,1,1\na,2,1\n", r"jobs\[1\]: duplicate label 'a' \(first at"),
        ('job,skew,ratio\n"a,1,1\n', "line 2: not CSV"),
        (b"job,skew,ratio\n\xff,1,1\n", "not UTF-8"),
    ],
)
def test_each_defect_of_a_history_is_one_line(written, text, message):
    path = written(text)
    with pytest.raises(InputError, match=message) as caught:
        history(path)
    assert str(caught.value).startswith(path)
    assert str(caught.value).count(path) == 1
    assert "\n" not in str(caught.value)


@given(st.text(alphabet='job,skewratioweight01.-+eE"\n\r\t é', max_size=120))
def test_any_text_is_read_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "fuzz.csv"
    for head in ("", "job,skew,ratio\n"):
        path.write_text(head + text, newline="")
        try:
            assert len(history(str(path)).jobs) >= 1
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017 - either outcome is fine, a traceback is not


@pytest.mark.parametrize("servers", [1, 2, 8, 40])
def test_skew_is_the_largest_tensors_share_on_any_number_of_servers(servers):
    instance = figure3(servers)
    for name, (skew,) in zip(instance.jobs, instance.values.tolist(), strict=True):
        assert skew == pytest.approx(tensor_model(name).skew)


def test_sensitive_models_are_the_vgg_family_and_alexnet():
    instance = load("threshold/tiresias-figure3")
    assert set(FIGURE3) == set(MODELS)
    assert {job for job, sensitive in zip(instance.jobs, instance.sensitive, strict=True) if sensitive} == {
        "vgg19",
        "vgg16",
        "vgg11",
        "alexnet",
    }


def test_random_follows_its_rule_but_for_the_noise():
    instance = random(jobs=2000, features=3, noise=0, seed=5)
    assert abs(instance.sensitive.sum() - 1000) <= 1
    flipped = random(jobs=2000, features=3, noise=0.2, seed=5).sensitive != instance.sensitive
    assert 0.17 < np.mean(flipped) < 0.23
    assert random(seed=3) == random(seed=3)
    assert random(seed=3) != random(seed=4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("random?jobs=0", r"threshold/random: jobs must be an integer from 1 to 100,000 \(got 0\)"),
        ("random?jobs=1000000000", r"threshold/random: jobs must be an integer from 1 to 100,000 \(got 1000000000\)"),
        ("random?features=33", r"threshold/random: features must be an integer from 1 to 32 \(got 33\)"),
        ("random?noise=1.5", r"threshold/random: noise must be a number from 0 to 1 \(got 1\.5\)"),
        ("random?seed=-1", r"threshold/random: seed must be an integer >= 0 \(got -1\)"),
        ("figure3?servers=0", r"threshold/figure3: servers must be an integer from 1 to 10,000 \(got 0\)"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        load(f"threshold/{arguments}")
