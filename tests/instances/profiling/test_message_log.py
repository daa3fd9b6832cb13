import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.instances.networks.models import tensor_model
from gangopt.instances.profiling.message_log import MessageLog, generate_log, read_log, write_log


def log(**changes):
    fields = {
        "times": np.array([0.5, 0.25]),
        "sources": ("ps0", "ps1"),
        "destinations": ("worker0", "worker0"),
        "sizes": np.array([8, 4096]),
    }
    return MessageLog(**(fields | changes))


names = st.text(alphabet="abps019_-. é", min_size=1, max_size=6).filter(lambda item: item == item.strip())


@given(
    st.lists(st.tuples(st.floats(-1e15, 1e15, allow_subnormal=False), names, names, st.integers(1, 10**15)), min_size=1)
)
def test_write_then_read_is_the_identity(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "log.csv"
    times, sources, destinations, sizes = zip(*rows, strict=True)
    written = MessageLog(np.array(times), sources, destinations, np.array(sizes))
    write_log(written, path)
    assert read_log(path) == written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty file; the header must have time,source,destination,bytes"),
        ("time,source,destination,bytes\n", "no rows after the header"),
        (
            "time,source,destination\n0,a,b\n",
            "missing column bytes; the header must have time,source,destination,bytes",
        ),
        (
            "time,source,destination,bytes,port\n0,a,b,1,1\n",
            "unknown column 'port'; the header must have time,source,destination,bytes",
        ),
        ("time,source,destination,bytes,time\n0,a,b,1,1\n", "duplicate column 'time'"),
        ("time,source,destination,bytes\n0,a,b\n", r"line 2 must have 4 fields \(got 3\)"),
        (
            "time,source,destination,bytes\n0,a,b,1\nx,a,b,1\n",
            r"line 3, column time must be a number from -1e15 to 1e15 \(got 'x'\)",
        ),
        (
            "time,source,destination,bytes\ninf,a,b,1\n",
            r"line 2, column time must be a number from -1e15 to 1e15 \(got 'inf'\)",
        ),
        (
            "time,source,destination,bytes\n1e16,a,b,1\n",
            r"line 2, column time must be a number from -1e15 to 1e15 \(got '1e16'\)",
        ),
        ("time,source,destination,bytes\n0,,b,1\n", "line 2, column source must not be empty"),
        ("time,source,destination,bytes\n0,a, ,1\n", "line 2, column destination must not be empty"),
        (
            "time,source,destination,bytes\n0,a,b,0\n",
            r"line 2, column bytes must be an integer from 1 to 1e15 \(got '0'\)",
        ),
        (
            "time,source,destination,bytes\n0,a,b,1.5\n",
            r"line 2, column bytes must be an integer from 1 to 1e15 \(got '1\.5'\)",
        ),
        (
            "time,source,destination,bytes\n0,a,b,-3\n",
            r"line 2, column bytes must be an integer from 1 to 1e15 \(got '-3'\)",
        ),
        ('time,source,destination,bytes\n0,"a,b,1\n', "line 2: not CSV"),
    ],
)
def test_each_defect_of_a_log_is_one_line(tmp_path, text, message):
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_log(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_log_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv"):
        read_log(tmp_path / "none.csv")


@given(st.text(alphabet='time,sourcdanby0123.-+eE"\n\r\t é', max_size=120))
def test_any_text_is_read_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "fuzz.csv"
    for head in ("", "time,source,destination,bytes\n"):
        path.write_text(head + text, newline="")
        try:
            assert read_log(path).sizes.min() >= 1
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017 - either outcome is fine, a traceback is not


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sources": ()}, r"log: number of messages must be an integer from 1 to 5,000,000 \(got 0\)"),
        ({"destinations": ("a",)}, "log: times, sources, destinations and sizes must all have length 2"),
        ({"times": np.array([0.0, np.nan])}, "log: times must be finite"),
        ({"sizes": np.array([0, 1])}, r"log: sizes must be >= 1 bytes \(got 0\)"),
    ],
)
def test_a_defective_log_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        log(**changes)


@pytest.mark.parametrize("name", ["a,b", 'a"', "a\n", " a", ""])
def test_names_that_a_csv_log_cannot_hold_are_refused(name, tmp_path):
    with pytest.raises(InputError, match=r"log: name .* cannot be written; names must not have commas"):
        write_log(log(sources=("ps0", name)), tmp_path / "log.csv")


def test_every_iteration_moves_the_model_to_and_from_every_worker():
    made = generate_log("alexnet", workers=3, servers=2, iterations=5)
    tensors = len(tensor_model("alexnet").tensors)
    assert len(made.sizes) == 2 * 3 * 5 * tensors
    assert made.sizes.sum() == pytest.approx(2 * 3 * 5 * tensor_model("alexnet").size * 2**20)
    sent = sum(source.startswith("ps") for source in made.sources)
    assert sent == 3 * 5 * tensors
    assert set(made.sources) == {"ps0", "ps1", "worker0", "worker1", "worker2"}
    assert (np.diff(made.times) >= 0).all()


def test_losses_and_duplicates_have_their_rates():
    whole = len(generate_log("vgg11", seed=3).sizes)
    assert len(generate_log("vgg11", loss=0.2, seed=3).sizes) == pytest.approx(0.8 * whole, rel=0.03)
    assert len(generate_log("vgg11", duplicates=0.3, seed=3).sizes) == pytest.approx(1.3 * whole, rel=0.03)
    assert generate_log("vgg11", loss=0.2, seed=3) == generate_log("vgg11", loss=0.2, seed=3)
    assert generate_log("vgg11", seed=3) != generate_log("vgg11", seed=4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"workers": 0}, r"message log: workers must be an integer from 1 to 10,000 \(got 0\)"),
        ({"servers": 0}, r"message log: servers must be an integer from 1 to 10,000 \(got 0\)"),
        ({"iterations": 0}, r"message log: iterations must be an integer from 1 to 1,000,000 \(got 0\)"),
        ({"period": 0.0}, r"message log: period must be a number from 1e-6 to 1,000,000 s \(got 0\.0\)"),
        ({"jitter": 0.3}, r"message log: jitter must be a number from 0 to 0\.2 \(got 0\.3\)"),
        ({"loss": 1.0}, r"message log: loss must be a number from 0 to 0\.9 \(got 1\.0\)"),
        ({"duplicates": -0.1}, r"message log: duplicates must be a number from 0 to 1 \(got -0\.1\)"),
        ({"seed": -1}, r"message log: seed must be an integer from 0 to 9,223,372,036,854,775,808 \(got -1\)"),
        ({"iterations": 100_000}, "message log: 100000 iterations of 4 workers exceed the limit of 5,000,000 messages"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        generate_log("vgg16", **arguments)


def test_an_unknown_model_is_refused_with_near_matches():
    with pytest.raises(InputError, match="unknown model 'vgg61'; did you mean 'vgg19', 'vgg16'"):
        generate_log("vgg61")
