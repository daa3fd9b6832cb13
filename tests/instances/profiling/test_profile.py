import numpy as np
import pytest

from gangopt.base.errors import InputError
from gangopt.instances.networks.models import MODELS, tensor_model
from gangopt.instances.profiling.message_log import MessageLog, generate_log
from gangopt.instances.profiling.profile import profile
from gangopt.instances.threshold.cuts import best_cut
from gangopt.instances.threshold.generate import figure3

LIMIT = best_cut(figure3()).threshold
SENSITIVE = {"vgg19", "vgg16", "vgg11", "alexnet"}


def recovered(name, **arguments):
    """Check size, skew and class of a profile, and return it."""
    found = profile(generate_log(name, **arguments))
    assert found.model_bytes == pytest.approx(tensor_model(name).size * 2**20, rel=0.01)
    assert found.skew == pytest.approx(tensor_model(name).skew, abs=0.002)
    assert (found.skew > LIMIT) == (name in SENSITIVE)
    return found


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"loss": 0.05, "duplicates": 0.05, "jitter": 0.05, "seed": 1},
        {"loss": 0.1, "servers": 8, "workers": 2, "iterations": 12, "period": 0.3, "jitter": 0.05},
        {"loss": 0.02, "duplicates": 0.02, "servers": 2, "workers": 3, "iterations": 8, "period": 7.0},
    ],
    ids=["clean", "twenty iterations", "many servers", "short"],
)
def test_a_log_of_a_known_model_gives_its_size_and_class(name, arguments):
    found = recovered(name, **arguments)
    assert found.iterations == arguments.get("iterations", 20)
    # the mean of n jittered iterations is off by jitter / sqrt(n) at one standard error
    assert found.period == pytest.approx(arguments.get("period", 1.0), rel=0.03)
    assert len(found.servers) == arguments.get("servers", 4)
    assert len(found.workers) == arguments.get("workers", 4)


def test_a_clean_log_gives_every_tensor():
    name, servers = "resnet50", 3
    found = recovered(name, servers=servers, jitter=0.0, period=0.5)
    assert found.period == pytest.approx(0.5)
    assert found.received == 1
    sizes = [round(size * 2**20) for size in tensor_model(name).sizes]
    for k, server in enumerate(found.servers):
        assert server.name == f"ps{k}"
        listed = [size for size, count in server.tensors for _ in range(count)]
        assert listed == sorted(sizes[k::servers], reverse=True)
        assert server.bytes == sum(listed)
        assert server.share == pytest.approx(sum(listed) / sum(sizes))
        assert server.skew == pytest.approx(listed[0] / sum(sizes))
    assert found.skew == max(server.skew for server in found.servers)


@pytest.mark.parametrize(
    ("name", "workers", "servers", "iterations", "seed"),
    [("vgg11", 3, 2, 14, 17), ("alexnet", 2, 2, 8, 3), ("vgg19", 2, 1, 7, 21), ("vgg11", 3, 2, 14, 132)],
    ids=["two alike", "two alike, short", "three alike", "nearly three alike"],
)
def test_iterations_of_unequal_length_are_not_taken_together(name, workers, servers, iterations, seed):
    found = recovered(
        name,
        workers=workers,
        servers=servers,
        iterations=iterations,
        seed=seed,
        jitter=0.05,
        loss=0.05,
        duplicates=0.05,
    )
    assert found.iterations == iterations


def test_equal_tensors_are_not_taken_for_shorter_iterations():
    """Twelve equal layers of two tensors each, sent in the first three fifths of an iteration, and one other tensor."""
    sizes = [1000, 1000] * 12 + [5000]
    times = np.array([step + 0.6 * place / 25 for step in range(20) for place in range(25)])
    log = MessageLog(times, ("ps0",) * 500, ("worker0",) * 500, np.array(sizes * 20))
    found = profile(log)
    assert (found.iterations, found.model_bytes) == (20, 29_000)
    assert found.period == pytest.approx(1.0)
    assert found.servers[0].tensors == ((5000, 1), (1000, 24))


def test_received_tells_losses_from_duplicates():
    assert profile(generate_log("vgg16", loss=0.1)).received == pytest.approx(0.9, abs=0.02)
    assert profile(generate_log("vgg16", duplicates=0.1)).received == pytest.approx(1.1, abs=0.02)


def test_order_of_the_rows_and_start_of_the_clock_do_not_matter():
    log = generate_log("alexnet", loss=0.05, seed=2)
    order = np.random.default_rng(0).permutation(len(log.sizes))
    moved = MessageLog(
        log.times[order] + 1000.0,
        tuple(log.sources[i] for i in order),
        tuple(log.destinations[i] for i in order),
        log.sizes[order],
    )
    first, second = profile(log), profile(moved)
    assert second.period == pytest.approx(first.period)
    assert (second.servers, second.iterations) == (first.servers, first.iterations)


def test_names_of_parameter_servers_can_be_told():
    log = generate_log("alexnet")
    renamed = MessageLog(
        log.times,
        tuple(item.replace("ps", "param") for item in log.sources),
        tuple(item.replace("ps", "param") for item in log.destinations),
        log.sizes,
    )
    assert profile(renamed, "param").model_bytes == profile(log).model_bytes
    with pytest.raises(InputError, match=r"log: no message from a process named ps\.\.\. to another"):
        profile(renamed)
    with pytest.raises(
        InputError, match="prefix must not be empty; it is the prefix of the names of parameter servers"
    ):
        profile(log, "")


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_a_log_too_short_is_refused(name, iterations):
    with pytest.raises(InputError, match=r"^log: (must have|no message|[0-9]+% of|the traffic)"):
        profile(generate_log(name, iterations=iterations))


def test_a_log_of_three_iterations_names_how_many_are_needed():
    with pytest.raises(InputError, match=r"log: must have at least 4 iterations \(got about 2\.7\)"):
        profile(generate_log("vgg16", iterations=3))


def test_messages_that_do_not_recur_are_refused_when_they_are_many():
    log = generate_log("alexnet")
    n = 300

    def with_strays(size):
        return MessageLog(
            np.concatenate((log.times, np.linspace(0, 20, n))),
            log.sources + ("ps0",) * n,
            log.destinations + ("worker0",) * n,
            np.concatenate((log.sizes, size + np.arange(n))),
        )

    assert profile(with_strays(1000)).model_bytes == profile(log).model_bytes
    with pytest.raises(
        InputError,
        match="log: 60% of the bytes do not recur in every iteration; the log is too short or has several jobs",
    ):
        profile(with_strays(100_000_000))


def test_traffic_without_a_period_is_refused():
    generator = np.random.default_rng(1)
    n = 400
    log = MessageLog(np.sort(generator.random(n)), ("ps0",) * n, ("worker0",) * n, np.full(n, 1000))
    with pytest.raises(InputError, match="log: the traffic shows no period"):
        profile(log)


def test_messages_that_all_differ_or_coincide_are_refused():
    n = 40
    log = MessageLog(np.arange(n) * 1.0, ("ps0",) * n, ("worker0",) * n, np.arange(1, n + 1))
    with pytest.raises(InputError, match="log: no message recurs; the log must have at least 4 iterations"):
        profile(log)
    still = MessageLog(np.zeros(n), ("ps0",) * n, ("worker0",) * n, np.full(n, 5))
    with pytest.raises(InputError, match="log: no message recurs"):
        profile(still)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", MODELS)
def test_many_seeds_give_size_and_class(name, seed):
    recovered(name, loss=0.05, duplicates=0.05, jitter=0.05, workers=4, servers=4, seed=seed)
