from .base.errors import GangoptError as GangoptError
from .base.errors import InfeasibleError as InfeasibleError
from .base.errors import InputError as InputError
from .base.errors import NoSolutionError as NoSolutionError
from .base.errors import SolverError as SolverError
from .base.versions import show_versions as show_versions
from .catalogue import load as load
from .catalogue import names as names
from .instances.workload.catalogue import load_workload as load_workload
from .instances.workload.files import save_workload as save_workload
from .instances.workload.workload import Workload as Workload
from .registry.records import problems as problems
from .replays.registry import policies as policies
from .replays.run import replay as replay
from .solvers.compare.compare import compare as compare
from .solvers.compare.comparison import Comparison as Comparison
from .solvers.core.result import Result as Result
from .solvers.solve import solve as solve
from .topology import Cluster as Cluster

__version__: str
