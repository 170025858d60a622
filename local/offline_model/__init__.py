"""An OpenAI-compatible server for machines without a provider: a demonstration, not a judge.

It knows no application. What it does with a request follows from similarity of sentences and from extraction:

- `wire`: the HTTP server and the shapes of requests and answers, shared with the scripted model of the tests;
- `embedder`, `sentences`, `evidence`: vectors, clauses, and what a prompt is about; `asking`: vectors of questions;
- `choices`: enums, decisions and yes/no questions; `tools`: which tool to call; `lookups`: what one has to look up;
- `filling`, `said`, `schema_fields`: instances of JSON schemas; `citing`: answers out of records, with their ids;
- `replies`, `phrases`: texts;
- `brain` puts them together, `server` and `__main__` start it.
"""
