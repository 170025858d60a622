"""Sources that are listed: sitemaps, uploads, folders in S3."""

import gzip
from collections.abc import Iterator
from uuid import UUID

import boto3
import pytest

from oria_runtime.db.pool import Pool
from tests.support.database import DatabaseUrls, create_tenant
from tests.support.knowledge_refresh import BUCKET, World, open_world
from tests.support.knowledge_site import Site, write_page

LEAVE = "Every employee has thirty days of paid leave in a year."


def write_sitemap(site: Site, *paths: str, root: str = "urlset", entry: str = "url") -> bytes:
    entries = "".join(f"<{entry}><loc> {site.location(path)} </loc></{entry}>" for path in paths)
    return (
        f'<?xml version="1.0"?><{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{root}>'.encode()
    )


async def test_a_sitemap_of_sitemaps_plain_and_gzipped_lists_the_documents(world: World) -> None:
    site = world.site
    site.put(
        "/map.xml",
        write_sitemap(site, "/a.xml", "/b.xml.gz", root="sitemapindex", entry="sitemap"),
        media_type="text/xml",
    )
    site.put("/a.xml", write_sitemap(site, "/one", "/two", "/one#again"), media_type="application/xml")
    site.put("/b.xml.gz", gzip.compress(write_sitemap(site, "/three")), media_type="application/gzip")
    for path in ("/one", "/two", "/three"):
        site.put(path, write_page(path, LEAVE, links={"Elsewhere": "/four"}))
    source = await world.add_source("/map.xml", kind="sitemap", depth=0)
    assert await world.refresh(source) == "completed"
    assert set(await world.documents(source)) == {"/one", "/two", "/three"}
    assert world.site.asked()["/one"] == 1


async def test_a_listing_that_takes_longer_than_an_invocation_fails_the_refresh_and_is_not_begun_for_ever(
    world: World,
) -> None:
    parts = [f"/{number}.xml" for number in range(9)]
    index = write_sitemap(world.site, *parts, root="sitemapindex", entry="sitemap")
    world.site.put("/map.xml", index, media_type="text/xml")
    for part in parts:
        world.site.put(part, write_sitemap(world.site, "/one"), media_type="text/xml")
    source = await world.add_source("/map.xml", kind="sitemap", depth=0)
    world.site.delay = 0.1
    # HANDOVER_SECONDS and the invocation's margin leave half a second.
    assert await world.refresh(source, seconds=32.0) == "failed"
    assert (await world.last(source))["error"]["reason"] == "timeout"


async def test_nothing_is_missing_after_a_part_of_the_sitemaps_could_not_be_read(world: World) -> None:
    site = world.site
    site.put(
        "/map.xml", write_sitemap(site, "/a.xml", "/b.xml", root="sitemapindex", entry="sitemap"), media_type="text/xml"
    )
    site.put("/a.xml", write_sitemap(site, "/one"), media_type="text/xml")
    site.put("/b.xml", write_sitemap(site, "/two"), media_type="text/xml")
    for path in ("/one", "/two"):
        site.put(path, write_page(path, LEAVE))
    source = await world.add_source("/map.xml", kind="sitemap", depth=0)
    await world.refresh(source)
    site.fail("/b.xml", 500)
    assert await world.refresh(source) == "completed"
    assert (await world.last(source))["partial"]
    assert (await world.documents(source))["/two"]["missing_since"] is None


@pytest.mark.parametrize(
    "body", [b"<html>Not found</html>", b"<urlset", b"some words\n", b"<!DOCTYPE a [<!ENTITY x 'y'>]><urlset/>"]
)
async def test_a_sitemap_that_is_none_fails_the_refresh_with_its_reason(world: World, body: bytes) -> None:
    world.site.put("/map.xml", body, media_type="text/xml")
    source = await world.add_source("/map.xml", kind="sitemap", depth=0)
    assert await world.refresh(source) == "failed"
    assert (await world.last(source))["error"]["reason"] == "sitemap"


@pytest.fixture
def bucket(aws: str) -> Iterator[str]:
    client = boto3.client("s3")
    client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    yield BUCKET
    for item in client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        client.delete_object(Bucket=BUCKET, Key=item["Key"])
    client.delete_bucket(Bucket=BUCKET)


async def test_uploads_are_read_once_and_again_only_when_their_etag_changes(world: World, bucket: str) -> None:
    source = await world.add_place("upload", None)
    client = boto3.client("s3")
    folder = f"{world.database.tenant_id}/{source}/"
    client.put_object(Bucket=bucket, Key=folder + "Leave & travel.md", Body=f"# Leave\n\n{LEAVE}\n".encode())
    client.put_object(Bucket=bucket, Key=folder + "scan.bin", Body=b"\x00\x01\x02")
    client.put_object(Bucket=bucket, Key=f"{world.database.tenant_id}/other/secret.md", Body=b"# Secret")
    assert await world.refresh(source) == "completed"
    documents = await world.documents(source)
    assert {path: (row["status"], row["reason"]) for path, row in documents.items()} == {
        "upload:/Leave%20%26%20travel.md": ("indexed", None),
        "upload:/scan.bin": ("refused", "unsupported"),
    }
    world.forget()
    await world.refresh(source)
    assert await world.counts(source) == {"unchanged": 1, "refused": 1}
    client.put_object(
        Bucket=bucket, Key=folder + "Leave & travel.md", Body=f"# Leave\n\n{LEAVE}\n\nAnd more.\n".encode()
    )
    client.delete_object(Bucket=bucket, Key=folder + "scan.bin")
    await world.refresh(source)
    assert (await world.counts(source))["changed"] == 1
    assert (await world.statuses(source))["upload:/scan.bin"] == "gone"


async def test_a_file_that_was_deleted_is_not_found_after_the_next_refresh(world: World, bucket: str) -> None:
    source = await world.add_place("upload", None)
    client = boto3.client("s3")
    folder = f"{world.database.tenant_id}/{source}/"
    for name in ("kept.md", "deleted.md"):
        client.put_object(Bucket=bucket, Key=folder + name, Body=f"# {name}\n\n{LEAVE}\n".encode())
    assert await world.refresh(source) == "completed"
    client.delete_object(Bucket=bucket, Key=folder + "deleted.md")
    assert await world.refresh(source) == "completed"
    assert await world.statuses(source) == {"upload:/kept.md": "indexed", "upload:/deleted.md": "gone"}
    assert {chunk["location"] for chunk in (await world.dump(source))["chunks"]} == {"upload:/kept.md"}


async def test_a_folder_in_s3_is_read_when_the_operator_allows_it(
    database_urls: DatabaseUrls, pool: Pool, bucket: str
) -> None:
    config = f'{{"knowledge": {{"s3_prefixes": ["{bucket}/handbook"]}}}}'
    tenant: UUID = await create_tenant(pool, "readers", config)
    client = boto3.client("s3")
    client.put_object(Bucket=bucket, Key="handbook/leave/days.html", Body=write_page("Leave", LEAVE))
    client.put_object(Bucket=bucket, Key="handbook-private/secret.html", Body=write_page("Secret", LEAVE))
    async with open_world(database_urls.app, pool, tenant) as world:
        source = await world.add_place("s3", f"s3://{bucket}/handbook/")
        assert await world.refresh(source) == "completed"
        assert await world.statuses(source) == {f"s3://{bucket}/handbook/leave/days.html": "indexed"}
        foreign = await world.add_place("s3", f"s3://{bucket}/handbook-private/", name="Private")
        assert await world.refresh(foreign) == "failed"
        assert (await world.last(foreign))["error"]["reason"] == "not_allowed"


async def test_a_bucket_that_is_not_there_fails_the_refresh(database_urls: DatabaseUrls, pool: Pool, aws: str) -> None:
    tenant = await create_tenant(pool, "readers", '{"knowledge": {"s3_prefixes": ["no-such-bucket/x"]}}')
    async with open_world(database_urls.app, pool, tenant) as world:
        source = await world.add_place("s3", "s3://no-such-bucket/x/")
        assert await world.refresh(source) == "failed"
        assert (await world.last(source))["error"]["reason"] == "status"
