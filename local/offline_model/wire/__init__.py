"""The wire of an OpenAI-compatible model server, without a model: requests in, answers out, both as plain values."""
