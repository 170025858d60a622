"""The documents of the sample tenant agree with its catalog, and each is really of its kind."""

import re
from zipfile import ZipFile

from local.sample_tenant.load import DEMO_USER, DOCUMENTS
from tests.integration.catalog.test_sample_tenant import read_rows


def read_docx(name: str) -> str:
    """The paragraphs' text."""
    with ZipFile(DOCUMENTS / name) as archive:
        xml = archive.read("word/document.xml").decode()
    return re.sub(r"<[^>]+>", "", xml.replace("</w:p>", "\n"))


def test_the_cv_names_what_the_profile_of_the_demo_user_holds() -> None:
    amira = next(row for row in read_rows("people") if row["external_id"] == DEMO_USER)
    text = read_docx("amira-haddad-cv.docx")
    assert f"{amira['first_name']} {amira['last_name']}" in text
    for experience in amira["experiences"]:
        assert f"{experience['title']}, {experience['company']}, {experience['location']}" in text
    assert "women who want to enter technical jobs" in text, "something that only the document knows"


def test_the_same_cv_is_a_pdf_with_text_and_the_scan_is_one_without() -> None:
    written, scanned = (
        (DOCUMENTS / name).read_bytes() for name in ("amira-haddad-cv.pdf", "power-bi-certificate-scan.pdf")
    )
    assert written.startswith(b"%PDF-")
    assert scanned.startswith(b"%PDF-")
    assert b"/Font" in written
    assert b"/Font" not in scanned
    assert b"/Image" in scanned


def test_the_job_description_and_the_review_speak_of_the_catalog() -> None:
    opportunities = {row["external_id"]: row for row in read_rows("opportunities")}
    people = {f"{row.get('first_name')} {row.get('last_name')}" for row in read_rows("people")}
    description = (DOCUMENTS / "data-scientist-volume-forecasting.md").read_text(encoding="utf-8")
    [named] = re.findall(r"opening (OP-[A-Z]+-\d+)", description)
    assert opportunities[named]["job_code"] == "IT-DSC"
    review = (DOCUMENTS / "amira-haddad-review-2026.txt").read_text(encoding="utf-8")
    assert {"Wei Zhang", "Jan de Vries", "Linh Nguyen", "Emma Janssens"} <= people
    assert all(name in review for name in ("Amira Haddad", "Wei Zhang", "Jan de Vries", "Linh Nguyen"))
