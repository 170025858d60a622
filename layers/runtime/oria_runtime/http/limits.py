"""Every bound of the API in one table. Lambda takes 6 MB a request, base64 included; API Gateway cuts at 29 s."""

BODY_BYTES = 4_500_000
JSON_DEPTH = 24
MESSAGE_CHARACTERS = 32_000
IMAGE_BYTES = 3_000_000
ATTACHMENTS = 10
NAME_CHARACTERS = 255
ANSWERS = 20
OPTIONS = 50
ANSWER_CHARACTERS = 8_000
PREFERENCES = 100
PREFERENCE_CHARACTERS = 1_000
COMMENT_CHARACTERS = 2_000
PAGE = 100
DEFAULT_PAGE = 20
CURSOR_CHARACTERS = 512
IDEMPOTENCY_KEY_CHARACTERS = 255
WAIT_SECONDS = 25
REPORTED_ERRORS = 20
POINTER_CHARACTERS = 200
HEALTH_SECONDS = 2.0
REQUEST_SECONDS = 28.0
ANSWER_SECONDS = 1.0
# A message of 32,000 characters, each escaped as two surrogates, is 384 kB of JSON.
MCP_BODY_BYTES = 1_000_000
# A call cannot be taken up where it was cut, as an event stream can: it lives twice as long (600 s). A turn is decided
# before: its stages and their repairs take 345 s, then the sweeper comes. Lambda would kill at 900 s.
MCP_CALL_CUTS = 2
