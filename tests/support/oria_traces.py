"""Servers that stand for LangSmith and Langfuse: they take traces over HTTP and remember what arrived.

LangSmith's SDK posts batches of runs as multipart, each part named by its run; Langfuse's posts OpenTelemetry spans as
protobuf. Both are read as far as counting needs.
"""

import gzip
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from local.offline_model.wire.server import HttpReply, HttpRequest, reply_json, serve

RUN = re.compile(rb'name="(?:post|patch)\.([0-9a-f-]{36})"[^{]*(\{.*?\})\r\n--', re.DOTALL)

# What LangSmith's SDK asks its server for first.
BATCHES = {
    "use_multipart_endpoint": True,
    "size_limit": 100,
    "size_limit_bytes": 20_971_520,
    "scale_up_nthreads_limit": 16,
    "scale_up_qsize_trigger": 1000,
    "scale_down_nempty_trigger": 4,
}


@dataclass
class TraceServer:
    """`url` is what the exporters want; `runs` are LangSmith's runs, `finished` those that have ended."""

    url: str = ""
    runs: set[str] = field(default_factory=set)
    finished: set[str] = field(default_factory=set)
    spans: list[str] = field(default_factory=list)
    traces: set[str] = field(default_factory=set)

    async def handle(self, request: HttpRequest) -> HttpReply:
        path = request.path.partition("?")[0]
        body = gzip.decompress(request.body) if request.headers.get("content-encoding") == "gzip" else request.body
        if path.endswith("/runs/multipart"):
            found = [(run.decode(), fields) for run, fields in RUN.findall(body)]
            self.runs |= {run for run, _ in found}
            self.finished |= {run for run, fields in found if b'"end_time":"' in fields}
        elif path.endswith("/v1/traces"):
            self._read_spans(body)
            return HttpReply(200, b"")
        return reply_json({"version": "0.15.0", "batch_ingest_config": BATCHES})

    def _read_spans(self, body: bytes) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        message = ExportTraceServiceRequest.FromString(body)
        for resource in message.resource_spans:
            for scope in resource.scope_spans:
                self.spans += [span.name for span in scope.spans]
                self.traces |= {span.trace_id.hex() for span in scope.spans}


@asynccontextmanager
async def serve_traces() -> AsyncIterator[TraceServer]:
    """A trace server in the running loop."""
    server = TraceServer()
    async with serve(server.handle, 0) as url:
        server.url = url
        yield server
