"""Which specialists a tenant has (seeds/oria_orchestration.md, "Tenant-dependent availability")."""

from graph.oria.agents import SPECIALISTS, Specialist
from oria_runtime.tenancy.tenants import TenantConfig


def list_enabled(config: TenantConfig) -> list[Specialist]:
    """The specialists that the tenant enables, in the registry's order."""
    return [specialist for specialist in SPECIALISTS.values() if config.agent(specialist.id) is not None]


def find_enabled(config: TenantConfig, agent_id: str) -> Specialist | None:
    """The specialist of that id if it exists and the tenant enables it."""
    return next((specialist for specialist in list_enabled(config) if specialist.id == agent_id), None)
