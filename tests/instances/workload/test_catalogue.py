"""Names, formats recognised by looking at the file, and files that hold something else."""

import gzip

import numpy as np
import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.workload.catalogue import FAMILIES, load_workload, workload_templates
from gangopt.instances.workload.recognition import FORMATS, format_named, reader_of, recognise

TIRESIAS = "job_id,num_gpu,submit_time,model_name,duration\n1,2,3,vgg16,4\n"


def test_names_carry_their_arguments():
    workload = load_workload("workload/philly-like?jobs=5&seed=2")
    assert workload.name == "workload/philly-like?jobs=5&seed=2"
    assert gangopt.Workload.load("workload/philly-like?jobs=5&seed=2") == workload
    assert load_workload("workload/philly-like?jobs=5&seed=3") != workload
    templates = dict(workload_templates())
    assert "workload/tiresias-testbed?seed=0&gap=30.0" in templates
    assert len(templates) == len(FAMILIES)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("workload/tiresias", "unknown workload 'workload/tiresias'; did you mean 'workload/tiresias-testbed'"),
        ("workload/philly-like?job=5", "unknown argument 'job'; accepted: jobs=1000, gap=100.0"),
        ("workload/philly-like?jobs=x", r"jobs=x: jobs must be an integer \(got x\)"),
        ("nothing.csv", "nothing.csv: no such file"),
    ],
)
def test_wrong_names(name, message):
    with pytest.raises(InputError, match=message):
        load_workload(name)


def test_generated_workloads_have_no_file_format():
    for options in ({"format": "tiresias"}, {"throughputs": "a.json"}):
        with pytest.raises(
            InputError, match="workload/philly-like: generated workloads do not accept format or throughputs"
        ):
            load_workload("workload/philly-like", **options)


def test_a_format_can_be_chosen(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(TIRESIAS)
    assert load_workload(path, format="tiresias") == load_workload(path)
    with pytest.raises(
        InputError,
        match=r"log\.txt: missing column iterations; format muri requires job_id, num_gpu, submit_time,",
    ):
        load_workload(path, format="muri")
    with pytest.raises(InputError, match="unknown format of job logs 'tiresia'; did you mean 'tiresias'"):
        load_workload(path, format="tiresia")
    with pytest.raises(InputError, match="unknown format of job logs 'x'"):
        format_named("x")


def test_every_format_has_its_module():
    assert list(FORMATS) == [
        *("muri", "elasticflow", "tiresias", "adaptdl", "helios", "openb", "pai", "gavel", "shockwave", "philly"),
    ]
    for form in FORMATS.values():
        assert callable(reader_of(form))
        assert format_named(form.name) is form


@pytest.mark.parametrize(
    ("text", "held"),
    [
        (
            "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n",
            "a cluster of the Tiresias simulator",
        ),
        ("sn,cpu_milli,memory_mib,gpu,model\n", "the nodes of an openb cluster"),
        ("machineId, number of GPUs, single GPU mem\n", "Philly's list of machines"),
        ("placement,local_bsz,step_time,sync_time\n", "step times by placement"),
        ("num_nodes,num_replicas,local_bsz,step_time,sync_time\n", "step times by number of nodes"),
        ("global_batch_size,1,2,4\n", "throughputs by number of GPUs"),
        ("vc,node num\n", "the virtual clusters of Philly"),
        ("id,gpu_num,job_num\n", "a summary of the Helios clusters"),
        ("job_name,inst_id,user,status\n", "the job table of PAI"),
        ("duration\n", "a sample of service times"),
    ],
)
def test_files_that_hold_something_else_are_named(text, held):
    with pytest.raises(InputError, match=f"log.csv: not a job log; it holds {held}"):
        recognise(text.encode(), "log.csv")


def test_an_unknown_file_is_described():
    with pytest.raises(
        InputError,
        match=r"log\.csv: unknown format with columns a, b, c, d, e, f, \.\.\.; known: muri, elasticflow, .*,",
    ):
        recognise(b"a,b,c,d,e,f,g\n1,2,3,4,5,6,7\n", "log.csv")
    with pytest.raises(InputError, match=r"unknown format with columns x; known"):
        recognise(b"x\n", "log.csv")


LACKING = "id,gpus,duration\na,1,100\nb,2,50\n"


@pytest.mark.parametrize(
    "data",
    [
        LACKING.encode(),
        LACKING.replace("id,gpus,duration", "ID,GPUs,Duration").encode(),
        LACKING.replace(",", ";").encode(),
        LACKING.replace(",", "\t").encode(),
        LACKING.replace("id,", '"id",').encode(),
        gzip.compress(LACKING.encode(), mtime=0),
        gzip.compress(LACKING.replace(",", "\t").upper().encode(), mtime=0),
    ],
)
def test_a_table_of_own_columns_that_lacks_one_is_described(tmp_path, data):
    path = tmp_path / "jobs.csv"
    path.write_bytes(data)
    with pytest.raises(
        InputError,
        match=r"jobs\.csv: missing column arrival; format gangopt requires id, arrival, gpus, and allows duration, "
        r".*; public formats: muri, elasticflow, tiresias",
    ):
        load_workload(path)
    with pytest.raises(
        InputError, match=r"jobs\.csv: missing column arrival; format gangopt requires id, arrival, gpus"
    ):
        load_workload(path, format="gangopt")


def test_the_columns_of_a_public_format_in_another_spelling_are_described():
    wanted = "has the columns of format tiresias; their spelling must be job_id,num_gpu,submit_time,model_name,duration"
    for text in (TIRESIAS.replace("job_id", "Job_ID"), TIRESIAS.replace(",", ";"), TIRESIAS.replace(",", "\t")):
        with pytest.raises(InputError, match=f"log.csv: {wanted}$"):
            recognise(text.encode(), "log.csv")


def test_the_nearest_format_and_what_it_lacks_are_named():
    with pytest.raises(
        InputError,
        match="unknown format with columns job_id, num_gpu, submit_time, duration; the closest format is tiresias, "
        r"which requires column model_name; known: muri, .*, philly and gangopt \(id, arrival, gpus and optional",
    ):
        recognise(b"job_id,num_gpu,submit_time,duration\n1,2,3,4\n", "log.csv")


@pytest.mark.parametrize(
    "text",
    [
        "; Version: 2.2\n1 0 5 100 4 -1 -1 4 200 -1 1 3 1 -1 1 -1 -1 -1\n",
        "JobID|User|Submit|Start|End|Elapsed|State|AllocTRES\n1|a|b|c|d|e|f|g\n",
        "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time\n",
    ],
)
def test_logs_of_other_systems_are_named_by_their_columns(text):
    with pytest.raises(
        InputError,
        match=r"log\.csv: unknown format with columns [;Jj].*; known: muri",
    ):
        recognise(text.encode(), "log.csv")


def test_a_packed_log_is_unpacked(tmp_path):
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(TIRESIAS.encode(), mtime=0) + gzip.compress(b"2,1,4,bert,5\n"))
    workload = load_workload(path)
    assert (workload.name, workload.ids) == ("log", ("1", "2"))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(
        InputError,
        match=r"log\.csv\.gz: damaged or truncated gzip file \(Compressed file ended before the end-of-stream",
    ):
        load_workload(path)


def test_arrivals_in_milliseconds_are_suggested(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("id,arrival,gpus\na,999999999999,1\nb,1700000000000,1\nc,1700000060000,1\n")
    for file in (path, tmp_path / "jobs.json", tmp_path / "jobs.parquet"):
        workload = load_workload(file) if file.exists() else load_workload(path)
        workload.save(tmp_path / "jobs.json")
        workload.save(tmp_path / "jobs.parquet")
        notice = next(item for item in workload.notices if item.name == "arrivals-in-milliseconds")
        assert (notice.count, notice.dropped) == (2, False)
        assert notice.message == (
            "job b arrives at 1700000000000, probably milliseconds since 1970; times are read as seconds, "
            "divide them by 1000"
        )
    path.write_text("id,arrival,gpus\na,1700000000,1\n")
    assert load_workload(path).notices == ()


def test_a_cluster_is_checked_for_names_too():
    small = gangopt.Cluster.uniform(machines_per_rack=2, gpus_per_slot=4, name="small")
    with pytest.raises(
        InputError,
        match=r"job job12 cannot be placed on small: needs 16 GPUs, but the cluster has 8 \(unplaceable: 30; a",
    ):
        load_workload("workload/tiresias-testbed", cluster=small)
    workload = load_workload("workload/tiresias-testbed", cluster=small, lenient=True)
    assert len(workload) == 450
    assert workload.notices[0].name == "unplaceable"
    assert np.all(workload.gpus <= 8)
