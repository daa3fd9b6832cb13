"""Job files of the ElasticFlow simulator."""

import numpy as np
import pytest

from gangopt.base.errors import InputError

HEAD = "job_id,submit_time,real_iteration,model_name,ddl,batch_size,num_gpu,real_duration,duration,iteration\n"
ROWS = "0,0,1000,vgg16,500,256,1,400,400,1000\n1,10,900,bert,100,64,4,300,200,900\n"


def test_jobs_with_deadlines(read, counts):
    workload = read(HEAD + ROWS)
    assert workload.source.endswith("format elasticflow")
    assert workload.numbers("deadline").tolist() == [500, 100]
    assert workload.duration.tolist() == [400, 200]
    assert workload.numbers("steps").tolist() == [1000, 900]
    assert workload.numbers("batch").tolist() == [256, 64]
    assert workload.gpus.tolist() == [1, 4]
    assert counts(workload) == {"other-durations": (1, False), "early-deadlines": (1, False)}
    assert {item.name: item.message for item in workload.notices} == {
        "other-durations": "line 3: real_duration 300 s differs from duration 200 s, which is used",
        "early-deadlines": "line 3: deadline 100 s is before submit_time + duration = 210 s",
    }


def test_best_effort_jobs_have_no_deadline(read, counts):
    head = "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration,best_effort\n"
    workload = read(head + "0,0,10,resnet50,5,64,1,10,1\n1,0,10,resnet50,20,64,1,10,0\n")
    np.testing.assert_array_equal(workload.numbers("deadline"), [np.nan, 20])
    assert counts(workload) == {"equal-arrivals": (1, False)}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("9,20,1,vgg16,-5,256,1,400,400,1", r"column ddl must be a number from 0 to 1e15 \(got '-5'\)"),
        ("9,20,1,vgg16,500,0,1,400,400,1", r"column batch_size must be a number > 0 and <= 1e15 \(got '0'\)"),
        ("9,20,1,vgg16,500,256,x,400,400,1", r"column num_gpu must be an integer from 1 to 1e15 \(got 'x'\)"),
        ("9,,1,vgg16,500,256,1,400,400,1", r"column submit_time must be a number from 0 to 1e15 \(got ''\)"),
        ("9,20,1,vgg16,500,256,1,400,0,1", r"column duration must be a number > 0 and <= 1e15 \(got '0'\)"),
        ("9,20,1,vgg16,500,256,1,400,400,", r"column iteration must be a number > 0 and <= 1e15 \(got ''\)"),
        ("9,20,1,vgg16,500,256,1,-1,400,1", r"column real_duration must be a number > 0 and <= 1e15 \(got '-1'\)"),
        ("1,20,1,vgg16,500,256,1,400,400,1", "duplicate id '1'"),
    ],
)
def test_defects(read, row, message):
    with pytest.raises(InputError, match=f"line 4: {message}"):
        read(HEAD + ROWS + row + "\n")
    assert len(read(HEAD + ROWS + row + "\n", lenient=True)) == 2


def test_best_effort_is_0_or_more(read):
    head = "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration,best_effort\n"
    with pytest.raises(InputError, match=r"column best_effort must be an integer from 0 to 1e15 \(got 'yes'\)"):
        read(head + "0,0,10,resnet50,5,64,1,10,yes\n")
