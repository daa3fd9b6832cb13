"""Settings for every test: reproducible random examples, no deadline on a busy machine."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "gangopt", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=False
)
settings.load_profile("gangopt")
