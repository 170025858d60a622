"""A generated catalogue in Postgres: plausible words, clustered vectors, several tenants, no model calls.

Rows are copied into tables without their GIN and HNSW indexes, which are built afterwards: a row inserted into an HNSW
index costs some 4 ms, one built with the index a fraction of that.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from local.bench.catalogue_words import CITIES, COMMON, FORMS, NAMES, RANKS, ROLES, TOPICS

MODEL = "bench"
DIMENSIONS = 512
# The first tenant is the big one, the second has one row in a hundred.
SHARES = (0.60, 0.01, 0.13, 0.13, 0.13)
SIZES = {"skills": 12_000, "jobs": 3_000, "trainings": 100_000, "opportunities": 20_000, "people": 50_000}
# Distance of a row from the centre of its topic, and of a question from it, in units of the centre's own length.
SPREAD = 1.0
SOME_DAY = date(2026, 1, 1)
INDEX_SQL = """
select indexname, indexdef from pg_indexes
where schemaname = 'oria' and tablename = %s and (indexdef like '%%USING hnsw%%' or indexdef like '%%USING gin%%')
"""

Row = dict[str, Any]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Catalogue:
    """What was generated: the tenants, in the order of SHARES, and a generator of questions about it."""

    tenants: Sequence[UUID]
    writer: "Writer"


class Writer:
    """Makes up rows and questions, the same ones for the same seed."""

    def __init__(self, seed: int = 1) -> None:
        self.random = random.Random(seed)  # noqa: S311 - made-up data, the same for the same seed
        self.numbers = np.random.default_rng(seed)
        self.centres = self.numbers.standard_normal((len(TOPICS), DIMENSIONS), dtype=np.float32)
        # A few words are everywhere, most are rare, as in any text.
        self.common = COMMON.split()
        self.weights = [1 / rank for rank in range(1, len(self.common) + 1)]

    def vector(self, topic: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        """A unit vector near a topic's centre."""
        noise = self.numbers.standard_normal(DIMENSIONS, dtype=np.float32)
        vector = self.centres[topic] + SPREAD * noise
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)

    def words(self, topic: int, own: int, common: int) -> str:
        """Words of the topic among common ones."""
        name, listed = TOPICS[topic]
        chosen = self.random.choices([name.lower(), *listed.split()], k=own)
        chosen += self.random.choices(self.common, self.weights, k=common)
        self.random.shuffle(chosen)
        return " ".join(chosen)

    def topic(self) -> int:
        return self.random.randrange(len(TOPICS))

    def pick(self, words: str) -> str:
        return self.random.choice(words.split())

    def company(self) -> str:
        return f"{self.pick(NAMES)} {self.pick(FORMS)}"

    def title(self, topic: int) -> str:
        return f"{self.pick(RANKS)} {TOPICS[topic][0].lower()} {self.pick(ROLES)}"

    def skills(self, topic: int) -> list[dict[str, Any]]:
        listed = TOPICS[topic][1].split()
        chosen = self.random.sample(range(len(listed)), 6)
        return [
            {"code": f"S{topic}-{number}", "label": listed[number], "level": self.random.randint(1, 5)}
            for number in chosen
        ]

    def basics(self, topic: int) -> Row:
        """The columns that people and opportunities share."""
        return {
            "department": TOPICS[self.topic() if self.random.random() < 0.2 else topic][0],
            "location": f"{self.pick(CITIES)}, Europe",
            "work_mode": self.random.choice(["on_site", "hybrid", "remote"]),
            "classification": f"Grade {self.random.randint(1, 8)}",
        }

    def skill(self, topic: int, number: int) -> Row:
        return {
            "label": f"{self.words(topic, 2, 0)} {number}",
            "alternative_labels": [f"{self.words(topic, 2, 1)} {number}"],
        }

    def job(self, topic: int, number: int) -> Row:
        others = [f"{self.title(topic)} {number}-{each}" for each in range(3)]
        return {
            "title": f"{self.title(topic)} {number}",
            "alternative_titles": others,
            "skills": Jsonb(self.skills(topic)),
        }

    def training(self, topic: int, number: int) -> Row:
        return {
            "title": f"{self.words(topic, 2, 2)} {number}",
            "description": self.words(topic, 10, 35),
            "provider": self.company(),
            "duration_minutes": self.random.choice([30, 60, 90, 240, 480, 960]),
            "level": self.random.choice(["beginner", "intermediate", "advanced"]),
            "format": self.random.choice(["online", "video", "virtual_class", "classroom", "blended", "on_the_job"]),
            "keywords": self.words(topic, 4, 0).split(),
        }

    def opportunity(self, topic: int, _: int) -> Row:
        skills = self.skills(topic)
        posted = SOME_DAY + timedelta(days=self.random.randrange(300))
        return self.basics(topic) | {
            "title": self.title(topic),
            "description": self.words(topic, 12, 50),
            "kind": self.random.choice(["job", "job", "job", "project", "mission", "mentoring", "internship"]),
            "employment_type": self.random.choice(["permanent", "fixed_term", "temporary"]),
            "company": self.company(),
            "skills": Jsonb(skills),
            "skill_codes": [skill["code"] for skill in skills],
            "languages": self.random.sample(["en", "fr", "es", "de"], 2),
            "posted_on": posted,
            "closes_on": posted + timedelta(days=self.random.randrange(20, 120)),
        }

    def person(self, topic: int, number: int) -> Row:
        skills = self.skills(topic)
        held = [
            {
                "title": self.title(topic),
                "company": self.company(),
                "description": self.words(topic, 3, 6),
            }
            for _ in range(self.random.randint(0, 4))
        ]
        return self.basics(topic) | {
            "first_name": f"First{number % 700}",
            "last_name": f"Last{number % 5_000}",
            "job_title": self.title(topic),
            "skill_codes": [skill["code"] for skill in skills],
            "profile": Jsonb({"skills": skills, "experiences": held}),
        }


def generate(url: str, say: Say, *, sizes: dict[str, int] = SIZES, seed: int = 1) -> Catalogue:
    """Fill the catalogue's tables and build their indexes; `url` is the owner's, and no other tenant has rows."""
    writer = Writer(seed)
    makers = {
        "skills": writer.skill,
        "jobs": writer.job,
        "trainings": writer.training,
        "opportunities": writer.opportunity,
        "people": writer.person,
    }
    with psycopg.connect(url, autocommit=True, options="-c search_path=oria,public") as connection:
        connection.execute("set maintenance_work_mem = '1GB'")
        tenants = [add_tenant(connection, f"bench-{number}") for number in range(len(SHARES))]
        indexes = [index for table in (*sizes, "job_titles") for index in drop_indexes(connection, table)]
        for table, count in sizes.items():
            started = time.perf_counter()
            copy_rows(connection, table, make_rows(writer, makers[table], tenants, count))
            say(f"{count:,} {table}, {count / (time.perf_counter() - started):,.0f} rows/s")
        embed_titles(connection, writer)
        for definition in indexes:
            started = time.perf_counter()
            connection.execute(definition.encode())
            say(f"{time.perf_counter() - started:.0f} s for {definition.partition(' ON ')[2]}")
        connection.execute("vacuum analyze")
    return Catalogue(tenants, writer)


def add_tenant(connection: psycopg.Connection, slug: str) -> UUID:
    tenant_id = uuid4()
    connection.execute(
        "insert into tenants (id, slug, name, config) values (%s, %s, %s, '{}')", (tenant_id, slug, slug)
    )
    return tenant_id


def drop_indexes(connection: psycopg.Connection, table: str) -> list[str]:
    """Drop the slow indexes of a table; the statements that build them again."""
    found = connection.execute(INDEX_SQL, (table,)).fetchall()
    for name, _ in found:
        connection.execute(sql.SQL("drop index {}").format(sql.Identifier(name)))
    return [definition for _, definition in found]


def make_rows(writer: Writer, make: Callable[[int, int], Row], tenants: Sequence[UUID], count: int) -> Iterator[Row]:
    """Rows of all tenants in one shuffled sequence, as tables that have been written to for years hold them."""
    owners = writer.random.choices(tenants, SHARES, k=count)
    for number, owner in enumerate(owners):
        topic = writer.topic()
        yield {
            "id": uuid4(),
            "tenant_id": owner,
            "external_id": f"X{number}",
            "language": writer.random.choices(["en", "fr", "es"], [7, 2, 1])[0],
            "content_hash": "",
            "embedding": encode_vector(writer.vector(topic)),
            "embedding_model": MODEL,
        } | make(topic, number)


def encode_vector(vector: np.ndarray[Any, np.dtype[np.float32]]) -> bytes:
    """The binary form of pgvector's type: dimensions, an unused number, then the elements, all big-endian."""
    return len(vector).to_bytes(2, "big") + b"\0\0" + vector.astype(">f4").tobytes()


TYPES = {
    "id": "uuid",
    "tenant_id": "uuid",
    "embedding": "bytea",  # what is sent is the vector's own binary form
    "duration_minutes": "int4",
    "skills": "jsonb",
    "profile": "jsonb",
    "posted_on": "date",
    "closes_on": "date",
    **dict.fromkeys(("alternative_labels", "alternative_titles", "keywords", "skill_codes", "languages"), "text[]"),
}


def copy_rows(connection: psycopg.Connection, table: str, rows: Iterable[Row]) -> None:
    """Copy rows that all have the same columns."""
    rows = iter(rows)
    first = next(rows)
    query = sql.SQL("copy {} ({}) from stdin (format binary)").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, first))
    )
    with connection.cursor() as cursor, cursor.copy(query) as copy:
        copy.set_types([TYPES.get(column, "text") for column in first])
        copy.write_row(list(first.values()))
        for row in rows:
            copy.write_row(list(row.values()))


def embed_titles(connection: psycopg.Connection, writer: Writer) -> None:
    """Titles get vectors near those of their jobs."""
    with connection.cursor() as cursor:
        cursor.execute("create temporary table vectors (id uuid, key text, embedding vector(512))")
        keys = cursor.execute("select job_id, key from job_titles").fetchall()
        copy_rows(
            connection,
            "vectors",
            ({"id": job, "key": key, "embedding": encode_vector(writer.vector(writer.topic()))} for job, key in keys),
        )
    connection.execute(
        "update job_titles as title set embedding = vectors.embedding, embedding_model = %s"
        " from vectors where vectors.id = title.job_id and vectors.key = title.key",
        (MODEL,),
    )
