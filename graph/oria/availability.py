"""Which specialists a tenant has (seeds/oria_orchestration.md, "Tenant-dependent availability")."""

from graph.oria.agents import KNOWLEDGE_BASE, SPECIALISTS, Specialist
from oria_runtime.tenancy.tenants import TenantConfig


def list_enabled(config: TenantConfig) -> list[Specialist]:
    """The specialists that the tenant enables, in the registry's order."""
    return [specialist for specialist in SPECIALISTS.values() if config.agent(specialist.id) is not None]


def find_enabled(config: TenantConfig, agent_id: str) -> Specialist | None:
    """The specialist of that id if it exists and the tenant enables it."""
    return next((specialist for specialist in list_enabled(config) if specialist.id == agent_id), None)


def enables_knowledge(config: TenantConfig) -> bool:
    """Whether Career Chat may call the Knowledge Base: it is part of Career Chat, so that a list of agents without it
    enables it all the same, and only an entry that is not active does not."""
    own = (config.chatbot.agents or {}).get(KNOWLEDGE_BASE.id)
    return own is None or own.active
