-- Knowledge of a tenant: where it comes from, what was fetched when, and the passages that answers may cite.

-- `location` is the entry URL (web), the sitemap's URL (sitemap) or s3://bucket/prefix (s3); an upload has none.
-- The lease keeps two refreshes of one source apart; `queued_until` keeps a slow queue from being filled again.
create table knowledge_sources (
    id uuid primary key default gen_random_uuid(),
    tenant_id uuid not null references tenants on delete cascade,
    name text not null,
    kind text not null check (kind in ('web', 'sitemap', 's3', 'upload')),
    location text,
    origins text[] not null default '{{}}',
    path_prefixes text[] not null default '{{}}',
    max_depth int not null default 0,
    max_documents int not null,
    cadence_seconds int not null,
    status text not null default 'active' check (status in ('active', 'disabled')),
    next_refresh_at timestamptz not null default now(),
    queued_until timestamptz,
    lease uuid,
    lease_expires_at timestamptz,
    created_by text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    unique (tenant_id, name),
    check ((location is null) = (kind = 'upload'))
);
create index on knowledge_sources (next_refresh_at) where status = 'active';

-- One row per refresh: the history that an administrator reads. `counts` has a number for each outcome of a document.
create table knowledge_refreshes (
    id uuid primary key default gen_random_uuid(),
    tenant_id uuid not null references tenants on delete cascade,
    source_id uuid not null references knowledge_sources on delete cascade,
    trigger text not null check (trigger in ('schedule', 'manual')),
    status text not null default 'running' check (status in ('running', 'completed', 'failed')),
    counts jsonb not null default '{{}}',
    error jsonb,
    started_at timestamptz not null default now(),
    finished_at timestamptz
);
create unique index on knowledge_refreshes (source_id) where status = 'running';
create index on knowledge_refreshes (source_id, started_at desc);

-- What a running refresh has met: each location once, so that it goes on where another invocation stopped.
create table knowledge_visits (
    refresh_id uuid not null references knowledge_refreshes on delete cascade,
    tenant_id uuid not null references tenants on delete cascade,
    location text not null,
    depth int not null,
    done boolean not null default false,
    attempts int not null default 0,
    not_before timestamptz not null default now(),
    primary key (refresh_id, location)
);
create index on knowledge_visits (refresh_id, depth, location) where not done;

-- A document under its canonical location. Validators are kept as the server wrote them. `links` are what a crawl goes on
-- with when the server says that nothing changed. A document whose new version cannot be read keeps its old passages.
create table knowledge_documents (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    source_id uuid not null references knowledge_sources on delete cascade,
    location text not null,
    title text,
    language text,
    media_type text,
    etag text,
    last_modified text,
    body_hash text,
    status text not null check (status in ('indexed', 'empty', 'refused', 'unreachable', 'gone')),
    reason text,
    warnings jsonb not null default '[]',
    links jsonb not null default '[]',
    missing_since timestamptz,
    checked_at timestamptz not null default now(),
    changed_at timestamptz not null default now(),
    unique (source_id, location)
);
create index on knowledge_documents (tenant_id);

-- Other spellings that led to a document: redirects, canonical links.
create table knowledge_aliases (
    source_id uuid not null references knowledge_sources on delete cascade,
    tenant_id uuid not null references tenants on delete cascade,
    location text not null,
    document_id uuid not null references knowledge_documents on delete cascade,
    primary key (source_id, location)
);
create index on knowledge_aliases (document_id);

-- A version of the vector index: one embedding model. `address` says where that model is served, so that a search can still
-- ask the old one while the new version is being built.
create table knowledge_indexes (
    id uuid primary key default gen_random_uuid(),
    tenant_id uuid not null references tenants on delete cascade,
    model text not null,
    address jsonb not null,
    status text not null check (status in ('building', 'active')),
    lease uuid,
    lease_expires_at timestamptz,
    created_at timestamptz not null default now(),
    unique (tenant_id, model)
);
create unique index on knowledge_indexes (tenant_id) where status = 'active';
create unique index on knowledge_indexes (tenant_id) where status = 'building';

-- A passage. Its id follows from document and content, so that what did not change keeps its vectors.
create table knowledge_chunks (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    document_id uuid not null references knowledge_documents on delete cascade,
    ordinal int not null,
    path text[] not null default '{{}}',
    anchor text,
    content text not null,
    language text,
    search tsvector not null generated always as (
        setweight(to_tsvector(text_search_config(language), join_texts(path)), 'B') ||
        setweight(to_tsvector(text_search_config(language), content), 'C')
    ) stored
);
create index on knowledge_chunks (document_id, ordinal);
create index on knowledge_chunks (tenant_id);

-- 16-bit numbers: half the bytes, so that a vector stays in its row instead of beside the table.
create table knowledge_vectors (
    index_id uuid not null references knowledge_indexes on delete cascade,
    chunk_id uuid not null references knowledge_chunks on delete cascade,
    tenant_id uuid not null references tenants on delete cascade,
    embedding public.halfvec(512) not null,
    primary key (index_id, chunk_id)
);
create index on knowledge_vectors (chunk_id);

do $$
declare
    name text;
begin
    foreach name in array array['knowledge_sources', 'knowledge_refreshes', 'knowledge_visits', 'knowledge_documents',
                                'knowledge_aliases', 'knowledge_indexes', 'knowledge_chunks', 'knowledge_vectors'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format(
            'create policy %I on %I to {app} using (tenant_id = nullif(current_setting(''app.tenant'', true), '''')::uuid)',
            name || '_tenant', name);
        execute format('grant select, insert, update, delete on %I to {app}', name);
    end loop;
end $$;
