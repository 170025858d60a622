"""The numbers of this package, each with its reason."""

from typing import Final

# Searching. Fusion as in the catalogue's searches (graph/policy.py), with the passages that the issue asks for.
PASSAGES: Final = 5
CANDIDATES: Final = 50  # of each list
# Reciprocal ranks: 1 / (k + rank). Small, so that the first of a list stays before what is somewhere in both: on 60
# paraphrased questions about a handbook recall@5 is the same from 5 to 60, once the lists are cut to what is evidence.
FUSION_K: Final = 10
# The best hits are read with their neighbours; more would seldom become one of five passages.
MERGED_HITS: Final = 20
# One page that says everything in ten places must not push out all others. On the same questions recall@5 is 0.82 with
# one passage of each document, 0.78 with two or any number; two, because an answer may be in two sections.
PASSAGES_OF_A_DOCUMENT: Final = 2
# A passage of neighbours; five of them are some 3,000 tokens of a model's context.
PASSAGE_CHARACTERS: Final = 2_400
QUERY_CHARACTERS: Final = 1_000  # a question; more of a message would blur its meaning
# Of the 45 s that the Knowledge Base has (DESIGN §2.2); a search by text alone is the fallback.
QUERY_EMBEDDING_SECONDS: Final = 6.0
QUERY_DAYS: Final = 90  # of metrics, a season to compare with

# Sources of a tenant. A page is listed whole for an administrator, and each web source may be read by a research.
SOURCES: Final = 100
SOURCE_NAME_CHARACTERS: Final = 100
ORIGINS: Final = 20
PATH_PREFIXES: Final = 50
PREFIX_CHARACTERS: Final = 500
MAX_DEPTH: Final = 5  # links from the entry; beyond it a site is better listed by its sitemap
DEFAULT_DEPTH: Final = 2
MAX_DOCUMENTS: Final = 10_000
DEFAULT_DOCUMENTS: Final = 1_000
MIN_CADENCE_SECONDS: Final = 900  # three beats of the schedule
MAX_CADENCE_SECONDS: Final = 30 * 86_400
DEFAULT_CADENCE_SECONDS: Final = 86_400
# Deleting a document deletes its chunks and vectors: some thousand rows in one statement of at most 15 s.
DOCUMENTS_PER_DELETE: Final = 100

# Files of an upload source, as large as an uploaded document (documents/limits.py).
FILES: Final = 1_000
# Listing objects: a page of S3 has 1,000 keys.
LISTED_OBJECTS: Final = MAX_DOCUMENTS
