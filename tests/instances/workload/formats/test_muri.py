"""Job files of the Muri simulator."""

import pytest

from gangopt.base.errors import InputError

HEAD = (
    "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,"
    "resource_time_0,resource_time_1,resource_time_2,priority\r\n"
)
ROW = "{id},{gpus},{submit},{steps},vgg16,16,{duration},0,{each},82,75,66,0\r\n"


def log(*rows):
    return HEAD + "".join(
        ROW.format(id=index, gpus=1, submit=submit, steps=steps, duration=duration, each=each)
        for index, (submit, steps, duration, each) in enumerate(rows)
    )


def test_milliseconds_are_recognised_by_iterations_times_iteration_time(read, counts):
    workload = read(log((0, 100, 50_000, 500), (7_500, 10, 2_000, 201), (9_000, 10, 3_000, 201)))
    assert workload.source.endswith("format muri")
    assert workload.arrival.tolist() == [0, 7.5, 9]
    assert workload.duration.tolist() == [50, 2, 3]
    assert workload.numbers("batch").tolist() == [16, 16, 16]
    assert workload.numbers("steps").tolist() == [100, 10, 10]
    assert counts(workload) == {"unit": (3, False), "uneven-durations": (1, False)}
    messages = {item.name: item.message for item in workload.notices}
    assert messages["unit"].startswith(
        "times read as ms: iterations x iteration_time agrees with duration within 5 % in 2"
    )
    assert messages["uneven-durations"].startswith(
        "line 4: iterations x iteration_time = 2010 ms differs from duration 3000 ms"
    )
    assert "times of the file in ms" in workload.description


def test_the_same_columns_in_seconds_are_recognised_too(read):
    workload = read(log((0, 100, 50, 500), (7.5, 10, 2, 201)))
    assert workload.arrival.tolist() == [0, 7.5]
    assert workload.duration.tolist() == [50, 2]
    assert workload.notices[0].message.startswith("times read as s: ")


@pytest.mark.parametrize("duration", [50_000 / 30, 50_000 * 30, 0.5])
def test_a_unit_that_is_neither_is_never_guessed(read, duration):
    with pytest.raises(
        InputError,
        match=r"log\.csv: unknown unit of times: the median of iterations x iteration_time / duration must be near",
    ):
        read(log((0, 100, duration, 500)))


@pytest.mark.parametrize("unit", [1, 1000])
@pytest.mark.parametrize("ratio", [0.3, 4.0])
def test_moderate_differences_leave_the_unit_clear(read, unit, ratio):
    workload = read(log((0, 100, 50_000 / unit / ratio, 500)))
    assert workload.duration[0] == pytest.approx(50 / ratio)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0,1,0,100", "0,0,0,100", r"line 2: column num_gpu must be an integer from 1 to 1e15 \(got '0'\)"),
        ("0,1,0,100", ",1,0,100", r"line 2: column job_id must be a name \(got ''\)"),
        ("0,1,0,100", "0,1,x,100", r"line 2: column submit_time must be a number from 0 to 1e15 \(got 'x'\)"),
        ("0,1,0,100", "0,1,0,0", r"line 2: column iterations must be a number > 0 and <= 1e15 \(got '0'\)"),
        ("50000,0,500", "0,0,500", r"line 2: column duration must be a number > 0 and <= 1e15 \(got '0'\)"),
        ("50000,0,500", "50000,0,", r"line 2: column iteration_time must be a number > 0 and <= 1e15 \(got ''\)"),
        ("vgg16,16", "vgg16,-1", r"line 2: column batch_size must be a number > 0 and <= 1e15 \(got '-1'\)"),
    ],
)
def test_defects(read, old, new, message):
    text = log((0, 100, 50_000, 500), (1, 100, 50_000, 500))
    assert old in text
    with pytest.raises(InputError, match=message):
        read(text.replace(old, new, 1))
    assert len(read(text.replace(old, new, 1), lenient=True)) == 1


def test_nothing_left_is_an_error_and_no_guess(read):
    with pytest.raises(InputError, match=r"log\.csv: no valid jobs in the file \(bad-iterations 1\)"):
        read(log((0, 0, 1, 1)), lenient=True)
