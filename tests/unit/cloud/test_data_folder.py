"""A data folder serves one cloud at a time; tokens and tenants are kept in it."""

from pathlib import Path
from uuid import UUID

import pytest

from local.cloud.data_folder import DataFolder, DataInUseError
from local.cloud.http_server import PortInUseError, bind
from local.cloud.issuer import Issuer
from local.cloud.postgres import app_url, read_app_password
from local.cloud.tenants import Tenants, UnknownTenantError
from local.sample_tenant.load import TENANT_ID

TENANT = UUID("6b2f5fd5-3a5b-4c9e-9d6f-0d3f1c1f4e11")


def test_a_second_cloud_is_told_who_uses_the_folder(tmp_path: Path) -> None:
    first, second = DataFolder(tmp_path), DataFolder(tmp_path)
    first.lock()
    with pytest.raises(DataInUseError, match=r"process [0-9]+"):
        second.lock()
    first.unlock()
    second.lock()
    second.unlock()


def test_a_second_server_is_told_the_port() -> None:
    with bind("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(PortInUseError, match=str(port)):
            bind("127.0.0.1", port)


def test_tenants_are_found_by_slug_and_by_id(tmp_path: Path) -> None:
    tenants = Tenants(tmp_path)
    tenants.write("acme", TENANT)

    assert tenants.find("acme") == tenants.find(str(TENANT)) == str(TENANT)
    assert tenants.find(None) == tenants.find("northwind") == str(TENANT_ID)
    with pytest.raises(UnknownTenantError, match="other"):
        tenants.find("other")


def test_the_key_of_the_issuer_is_kept(tmp_path: Path) -> None:
    first, second = Issuer(tmp_path), Issuer(tmp_path)

    assert first.answer("/.local/issuer/jwks.json") == second.answer("/.local/issuer/jwks.json")
    assert (tmp_path / "issuer.pem").stat().st_mode & 0o077 == 0


def test_only_a_server_on_the_network_needs_a_password(tmp_path: Path) -> None:
    assert read_app_password(tmp_path, "host=/run/postgres dbname=x") is None
    password = read_app_password(tmp_path, "postgresql://owner@db.example/x")

    assert password is not None
    assert password == read_app_password(tmp_path, "postgresql://owner@db.example/x")
    assert "user=oria_app" in app_url("postgresql://owner@db.example/x", password)
