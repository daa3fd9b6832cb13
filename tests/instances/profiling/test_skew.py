import pytest

from gangopt.instances.networks.models import MODELS, tensor_model
from gangopt.instances.profiling.skew import model_skew, round_robin, server_skews


def test_round_robin_puts_tensor_k_on_server_k_mod_p():
    assert round_robin([5, 6, 7, 8, 9], 2) == [[5, 7, 9], [6, 8]]
    assert round_robin([5], 3) == [[5], [], []]


def test_skew_of_a_server_is_its_largest_tensor_over_the_model():
    assert server_skews([[1, 4], [3, 2], []]) == [0.4, 0.3, 0]


@pytest.mark.parametrize("name", MODELS)
def test_skew_of_a_model_does_not_depend_on_the_servers(name):
    assert {round(model_skew(name, servers), 12) for servers in (1, 3, 8)} == {round(tensor_model(name).skew, 12)}
