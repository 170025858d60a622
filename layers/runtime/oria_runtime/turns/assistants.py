"""What an assistant tells the engine: its stages, its graph, and how its state becomes an outcome.

The engine imports no graph. An assistant is found through the registry named by the `ASSISTANTS` setting
(`module:mapping`), so a team can add its own beside ours.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from oria_runtime.errors import ConfigurationError
from oria_runtime.tenancy.tenants import TenantConfig
from oria_runtime.turns.models import Outcome, Turn

if TYPE_CHECKING:
    from langgraph.graph import StateGraph

    from oria_runtime.turns.context import TurnContext


@dataclass(frozen=True)
class Stage:
    """Part of a turn that one function invocation runs.

    `timeout` is the function's Timeout in seconds. `recovery` is the directive with which a killed or failed stage is
    dispatched once more. `budget` is the number of seconds of a turn that all stages of the same `budget_name` share.
    """

    name: str
    nodes: frozenset[str]
    timeout: float
    recovery: str | None = None
    budget: float | None = None
    budget_name: str = "handovers"


@dataclass(frozen=True)
class Approval:
    """What the safety gate says of some texts. `text` is what the person reads on block or doubt."""

    decision: Literal["allow", "doubt", "block"]
    text: str = ""


@dataclass(frozen=True)
class AgentInfo:
    """An agent as clients see it."""

    id: str
    name: str
    description: str


@dataclass(frozen=True)
class Assistant:
    """A registered assistant.

    `approve(texts, context)` judges answers to an interaction with the function that the gate node uses; it raises
    StageFailedError when no decision can be had. `remember(context)` is the memory update after an approved turn: it
    returns the whole new preference list, or None to leave the stored one.
    `read_outcome` looks at the final state values; None means that the graph produced nothing to show.
    `read_agent` names the agent that the state says is at work, for the turn row.
    `needs_simulation` says that its conversations are started with a simulation, and the other assistants' never are.
    `state_types` are the classes, as (module, name), that the graph keeps in its state beside messages, interrupts and
    the plain types of LangGraph's safe list; what is not named comes back from a checkpoint as plain data.
    """

    id: str
    name: str
    description: str
    stages: Sequence[Stage]
    context_schema: type
    build: Callable[[], "StateGraph[Any, Any, Any, Any]"]
    graph_input: Callable[[Turn], Mapping[str, Any]]
    read_outcome: Callable[[Mapping[str, Any]], Outcome | None]
    read_agent: Callable[[Mapping[str, Any]], str | None]
    approve: Callable[[Sequence[str], "TurnContext"], Awaitable[Approval]]
    agents: Callable[[TenantConfig], Sequence[AgentInfo]]
    remember: Callable[["TurnContext"], Awaitable[Sequence[str] | None]] | None = None
    memory_timeout: float = 30.0
    needs_token: bool = False
    needs_simulation: bool = False
    state_types: Collection[tuple[str, str]] = ()

    @property
    def first_stage(self) -> Stage:
        return self.stages[0]

    def stage(self, name: str) -> Stage:
        """The stage of that name. Raises ConfigurationError."""
        for stage in self.stages:
            if stage.name == name:
                return stage
        raise ConfigurationError(f"assistant {self.id} has no stage {name}")

    def stage_of(self, node: str) -> str | None:
        """The name of the stage that runs a node."""
        return next((stage.name for stage in self.stages if node in stage.nodes), None)

    @property
    def stage_map_hash(self) -> str:
        """Changes when a node moves or is renamed: a turn in flight across such a deploy is a decided failure."""
        text = ";".join(f"{stage.name}={','.join(sorted(stage.nodes))}" for stage in self.stages)
        return sha256(f"{self.id}|{text}".encode()).hexdigest()[:16]


Registry = Mapping[str, Assistant]


def load_registry(path: str) -> Registry:
    """The registry behind `module:name`; `name` is a mapping or a function that returns one."""
    module, _, name = path.partition(":")
    registry = getattr(import_module(module), name)
    loaded: Registry = registry() if callable(registry) else registry
    return loaded


def find_assistant(registry: Registry, assistant_id: str) -> Assistant:
    """The assistant of that id. Raises ConfigurationError."""
    try:
        return registry[assistant_id]
    except KeyError as error:
        raise ConfigurationError(f"no assistant {assistant_id} is registered") from error
