"""Job files of the Tiresias simulator."""

import numpy as np
import pytest

from gangopt.base.errors import InputError

HEAD = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\r\n"
ROWS = "0,1,0,606,vgg19,164,30\r\n1,8,30,133,vgg11,147,23\r\n7,2,53,157,inception4,127,26\r\n"


def test_jobs(read, counts):
    workload = read(HEAD + ROWS, "three.csv")
    assert workload.ids == ("0", "1", "7")
    assert workload.arrival.tolist() == [0, 30, 53]
    assert workload.gpus.tolist() == [1, 8, 2]
    assert workload.duration.tolist() == [164, 147, 127]
    assert workload.numbers("steps").tolist() == [606, 133, 157]
    assert workload.texts("model") == ("vgg19", "vgg11", "inception4")
    assert (workload.name, workload.source) == ("three", "file three.csv, format tiresias")
    assert counts(workload) == {"unchecked-unit": (3, False)}


def test_older_columns_and_no_iterations(read):
    head = "job_id,num_gpu,submit_time,start_time,duration,model_size,aggr_interval,model_name,model_scale\n"
    workload = read(head + "3,4,11,14,20,400,0,vgg16,1\n")
    assert workload.duration.tolist() == [20]
    np.testing.assert_array_equal(workload.numbers("steps"), [np.nan])


def test_unsorted_and_equal_arrivals_and_unknown_models_are_named_warnings(read, counts):
    workload = read(HEAD + ROWS + "8,1,30,1,vgg19,5,0\n9,1,30,1,lenet,5,0\n")
    assert workload.ids == ("0", "1", "8", "9", "7")
    assert counts(workload) == {
        "unchecked-unit": (5, False),
        "unknown-models": (1, False),
        "unsorted-arrivals": (1, False),
        "equal-arrivals": (2, False),
    }
    messages = {item.name: item.message for item in workload.notices}
    assert messages["unknown-models"] == "line 6: models unknown to the tools of the format: lenet"
    assert messages["unsorted-arrivals"].startswith("line 5: arrival 30 s is earlier than that of the previous row")
    assert messages["equal-arrivals"].startswith("line 5: several jobs arrive at 30 s")


@pytest.mark.parametrize(
    ("row", "name", "message"),
    [
        ("1,2,60,5,vgg16,10,0", "duplicate-ids", "line 5: duplicate id '1'"),
        (",2,60,5,vgg16,10,0", "bad-job_id", "line 5: column job_id must be a name .got ''"),
        ("9,0,60,5,vgg16,10,0", "bad-num_gpu", "line 5: column num_gpu must be an integer from 1 to 1e15 .got '0'"),
        ("9,2.5,60,5,vgg16,10,0", "bad-num_gpu", "line 5: column num_gpu must be an integer from 1 to 1e15 .got '2.5'"),
        (
            "9,2,-1,5,vgg16,10,0",
            "bad-submit_time",
            "line 5: column submit_time must be a number from 0 to 1e15 .got '-1'",
        ),
        ("9,2,60,5,vgg16,0,0", "bad-duration", "line 5: column duration must be a number > 0 and <= 1e15 .got '0'"),
        ("9,2,60,5,vgg16,ten,0", "bad-duration", "line 5: column duration must be a number > 0 and <= 1e15 .got 'ten'"),
        (
            "9,2,60,0,vgg16,10,0",
            "bad-iterations",
            "line 5: column iterations must be a number > 0 and <= 1e15 .got '0'",
        ),
        ("9,2,60,5,vgg16", "ragged-rows", "line 5 must have 7 fields .got 5."),
    ],
)
def test_a_defective_row_is_an_error_and_left_out_when_lenient(read, counts, row, name, message):
    with pytest.raises(InputError, match=rf"log.csv: {message}.*\({name}: 1; a lenient reader"):
        read(HEAD + ROWS + row + "\n")
    workload = read(HEAD + ROWS + row + "\n", lenient=True)
    assert workload.ids == ("0", "1", "7")
    assert counts(workload)[name] == (1, True)


def test_a_log_without_a_good_row_is_an_error_even_when_lenient(read):
    with pytest.raises(InputError, match=r"log\.csv: no valid jobs in the file \(bad-duration 1\)"):
        read(HEAD + "1,2,60,5,vgg16,0,0\n", lenient=True)
    with pytest.raises(InputError, match="no rows after the header"):
        read(HEAD)
    with pytest.raises(InputError, match="missing column duration; format tiresias requires job_id, num_gpu"):
        read("job_id,num_gpu,submit_time,model_name\n1,1,1,vgg16\n", format="tiresias")


def test_a_file_in_milliseconds_read_as_tiresias_is_reported(read, counts):
    head = "job_id,num_gpu,submit_time,iterations,model_name,duration,iteration_time\n"
    workload = read(head + "1,1,0,100,vgg16,50000,500\n", format="tiresias")
    assert workload.duration.tolist() == [50000]
    assert counts(workload)["unit-contradiction"] == (1, False)
    seconds = read(head + "1,1,0,100,vgg16,50,500\n", format="tiresias")
    assert "unit-contradiction" not in counts(seconds)


@pytest.mark.parametrize("name", ["googlenet", "GoogLeNet", "ResNet-50", "inception_3", "VGG 16"])
def test_networks_that_this_tool_knows_are_known_in_every_format(read, counts, name):
    head = "job_id,num_gpu,submit_time,model_name,duration"
    assert "unknown-models" not in counts(read(f"{head}\n1,2,3,{name},4\n"))
    muri = read(f"{head},iterations,iteration_time\n1,2,3,{name},4000,2,2000\n")
    assert muri.source.endswith("format muri")
    assert "unknown-models" not in counts(muri)
