"""A function of the template: Globals merged with its own properties, source folders found."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from local.cloud.intrinsics import TemplateError
from local.cloud.resources import FunctionSpec


def read_function(
    root: Path, shared: Mapping[str, Any], own: Mapping[str, Any], name: str, layers: Mapping[str, Path]
) -> FunctionSpec:
    """The specification of one function.

    `shared` and `own` are the resolved properties of Globals and of the function; `layers` gives the source folders of
    the template's own layers by logical id. Layers of others (an ARN) have nothing to import and are passed over.
    """
    merged = {**shared, **own}
    variables = _variables(shared) | _variables(own)
    named_layers = [*shared.get("Layers", []), *own.get("Layers", [])]
    handling = own.get("EventInvokeConfig", {})
    reserved = merged.get("ReservedConcurrentExecutions")
    return FunctionSpec(
        name=merged.get("FunctionName", name),
        handler=merged["Handler"],
        code_root=find_code_root(root / merged["CodeUri"], merged["Handler"]),
        layers=tuple(_import_paths([layers[layer] for layer in named_layers if layer in layers])),
        timeout=float(merged.get("Timeout", FunctionSpec.timeout)),
        memory=int(merged.get("MemorySize", FunctionSpec.memory)),
        environ={key: str(value) for key, value in variables.items()},
        reserved=None if reserved is None else int(reserved),
        retries=int(handling.get("MaximumRetryAttempts", FunctionSpec.retries)),
        event_age=float(handling.get("MaximumEventAgeInSeconds", FunctionSpec.event_age)),
        on_failure=handling.get("DestinationConfig", {}).get("OnFailure", {}).get("Destination"),
        dead_letter=own.get("DeadLetterQueue", {}).get("TargetArn"),
    )


def find_code_root(code_uri: Path, handler: str) -> Path:
    """The folder that is the root of the built function.

    SAM's ParentPackageMode keeps the packages above CodeUri, so the root is the nearest folder, from CodeUri upwards,
    in which the handler's file is found. Raises TemplateError when there is none.
    """
    module = handler if handler.endswith(".sh") else handler.rpartition(".")[0].replace(".", "/") + ".py"
    for folder in (code_uri.resolve(), *code_uri.resolve().parents):
        if (folder / module).exists():
            return folder
    raise TemplateError(f"no {module} for the handler {handler} in {code_uri} or above")


def _variables(properties: Mapping[str, Any]) -> dict[str, Any]:
    return dict(properties.get("Environment", {}).get("Variables", {}))


def _import_paths(folders: Sequence[Path]) -> list[Path]:
    """Where the packages of layers are found: the folder that holds them. Third-party layers are the environment's
    site-packages here, and a folder of requirements holds no package."""
    paths = []
    for folder in (path.resolve() for path in folders):
        if (folder / "__init__.py").exists():
            paths.append(folder.parent)
        elif any(folder.glob("*/__init__.py")):
            paths.append(folder)
    return list(dict.fromkeys(paths))
