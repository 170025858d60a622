"""The assistants' agents as tools of the Model Context Protocol: `/mcp`, streamable HTTP without sessions.

The `mcp` package (300 ms to import) is loaded by the first request for `/mcp`, not by the event stream's cold start.
"""
