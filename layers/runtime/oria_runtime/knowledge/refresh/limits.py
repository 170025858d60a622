"""Every number of the refresh, with its reason."""

# A worker that dies keeps its source that long; a document, the longest step between two renewals, takes less.
LEASE_SECONDS = 120
# Between two documents the lease is renewed when nothing was written for so long: new versions wait to be embedded.
RENEW_SECONDS = 1.0
# Fetching and reading one document, and embedding what waits: a backstop, each of them has a limit of its own.
VISIT_SECONDS = 90.0
# New versions wait that long for others, to be embedded together.
WAITING_SECONDS = 5.0
# With less left, no further document is begun: fetch limit and one batch of embeddings fit in.
HANDOVER_SECONDS = 30.0
# What a document that runs when the time is over leaves for the handover itself.
CLOSING_SECONDS = 5.0
# How long a message may be in the queue before the schedule takes it for lost.
QUEUED_SECONDS = 900.0
# SQS delays a message by 15 minutes at most.
MAX_DELAY_SECONDS = 900
# A wait for a host that is shorter than this is waited for; a longer one is left to a delayed message.
SLEEP_SECONDS = 10.0
# A refresh that takes longer is given up: something makes it wait again and again.
REFRESH_SECONDS = 86_400
# Locations taken up at once; one that killed a worker is taken up alone.
VISITS_PER_TURN = 32
# A location that killed its worker, or took too long, that often is given up.
VISIT_ATTEMPTS = 3
# Answers "try again later" that are obeyed for one location before it counts as unreachable.
VISIT_WAITS = 5
# The time to repair a server that answers 404 by mistake over a weekend.
GRACE_SECONDS = 3 * 86_400
# How long an administrator reads of a document that is gone.
FORGET_SECONDS = 30 * 86_400
# The next refresh is at its cadence, more or less: sources of one hour must not all be due in the same minute.
JITTER = 0.1
# Documents whose chunks are removed in one transaction.
GONE_PER_TRANSACTION = 50
# Refreshes that an administrator can look back on, for each source.
HISTORY = 100
# Due entries that one run of the schedule takes; what is more is due in the next.
DUE_ENTRIES = 500

# Of the sitemap protocol: 50,000 entries a file, a file of 50 MB; a source takes max_documents of them anyway.
SITEMAPS = 50
SITEMAP_DEPTH = 2
SITEMAP_BYTES = 50_000_000

# Texts in one embedding call, and the time that it may take with its retries.
TEXTS_PER_CALL = 128
EMBEDDING_SECONDS = 45.0
# Chunks of an index version embedded between two renewals of its lease.
BUILD_CHUNKS = 256
# Vectors of a retired index deleted in one statement: a fraction of the statement timeout.
RETIRED_VECTORS = 5_000
# Rows in one statement of a swap: the vector index takes some 3 ms a row, a statement 15 s.
ROWS_PER_STATEMENT = 500
