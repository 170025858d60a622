"""A small company for whole conversations: fixed people, trainings, openings, jobs and skills.

Nothing has a vector, so searches go by words and facts alone and give the same order every time.
"""

from typing import Any

from oria_runtime.db.pool import TenantDatabase
from tests.integration.search.rows import add_opportunity
from tests.support.candidates import add_candidate, add_skill
from tests.support.jobs import add_job, give_job
from tests.support.people import add_person
from tests.support.trainings import add_training

USER = "lena"
SKILLS = {"py": "Python", "sql": "SQL", "lead": "Leadership", "st": "Statistics"}
PROFILE: dict[str, Any] = {
    "skills": [{"code": "py", "label": "Python", "level": 2}, {"code": "sql", "label": "SQL", "level": 4}],
    "objectives": [
        {"id": "o-1", "title": "Lead a team", "skills": [{"code": "lead", "label": "Leadership"}]},
        {"id": "o-2", "title": "Write better Python", "skills": [{"code": "py", "label": "Python"}]},
    ],
    "bookmarks": [{"kind": "training", "id": "t02", "title": "Python part 02"}],
}
ENGINEERS = ("Bauer", "Costa", "Dubois", "Evans", "Fischer", "Garcia", "Haas")


async def add_company(database: TenantDatabase) -> None:
    """Insert everything."""
    for code, label in SKILLS.items():
        await add_skill(database, code, label)
    asked = [{"code": "py", "level": 4, "weight": 3}, {"code": "sql", "level": 4, "weight": 1}]
    await add_job(database, "DA", title="Data analyst", description="Answers questions with data.", skills=asked)
    await add_job(database, "DS", title="Data scientist", skills=[{"code": "st", "level": 4, "weight": 1}])
    await add_people(database)
    for number in range(1, 15):
        await add_training(
            database, f"t{number:02}", title=f"Python part {number:02}", duration_minutes=90, language="en"
        )
    await add_openings(database)


async def add_people(database: TenantDatabase) -> None:
    """The person who talks, two namesakes, seven engineers in Lyon who know Python."""
    basics: dict[str, Any] = {"job_title": "Data analyst", "department": "Finance", "location": "Lyon"}
    await add_person(database, USER, first_name="Lena", last_name="Moser", sections=PROFILE, **basics)
    await give_job(database, USER, "DA")
    for person_id, title, town in (("p-1", "Engineer", "Lyon"), ("p-2", "Controller", "Nantes")):
        await add_person(database, person_id, first_name="Mara", last_name="Lindt", job_title=title, location=town)
    for number, name in enumerate(ENGINEERS, start=1):
        await add_candidate(
            database,
            f"e-{number}",
            first_name="Robin",
            last_name=name,
            job_title="Data engineer",
            department="IT",
            location="Lyon",
            work_mode="hybrid",
            skills={"py": "Python"},
        )


async def add_openings(database: TenantDatabase) -> None:
    """Seven about data in Lyon and Nantes, and one that asks for leadership."""
    python = {"code": "py", "label": "Python", "level": 3, "weight": 1.0}
    lead = {"code": "lead", "label": "Leadership", "level": 2, "weight": 1.0}
    for number in range(1, 8):
        town = "Lyon" if number < 7 else "Nantes"
        work: dict[str, Any] = {"title": f"Data project {number}", "kind": "project", "location": town}
        await add_opportunity(database, f"d-{number}", skills=[python], **work)
    await add_opportunity(database, "l-1", title="Coordinator of the night shift", location="Lyon", skills=[lead])
