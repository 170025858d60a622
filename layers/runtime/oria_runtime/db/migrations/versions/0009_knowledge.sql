-- Knowledge of a tenant: where it comes from, what was fetched when, and the passages that answers may cite.

-- `location` is the entry URL (web), the sitemap's URL (sitemap) or s3://bucket/prefix (s3); an upload has none.
-- The lease keeps two refreshes of one source apart; `queued_until` keeps a slow queue from being filled again. A source
-- stays due until its refresh has ended, so that a refresh whose worker died is found like one that never began.
-- `requested`: an administrator asked for the next refresh.
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
    requested boolean not null default false,
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
-- `seeded`: its first visits are there. `partial`: a part of the listing could not be read, so that what was not met may
-- still exist. `error` is {{"reason", "detail"}}.
create table knowledge_refreshes (
    id uuid primary key default gen_random_uuid(),
    tenant_id uuid not null references tenants on delete cascade,
    source_id uuid not null references knowledge_sources on delete cascade,
    trigger text not null check (trigger in ('schedule', 'manual')),
    status text not null default 'running' check (status in ('running', 'completed', 'failed')),
    counts jsonb not null default '{{}}',
    seeded boolean not null default false,
    partial boolean not null default false,
    error jsonb,
    started_at timestamptz not null default now(),
    finished_at timestamptz
);
create unique index on knowledge_refreshes (source_id) where status = 'running';
create index on knowledge_refreshes (source_id, started_at desc);

-- What a running refresh has met: each location once, so that it goes on where another invocation stopped. `attempts`
-- counts how often a worker took it up: one that kills its workers is given up. `waits` counts the "try again later" of
-- its host. `etag` is what a listing says of an object. `number` keeps the order in which locations were met.
create table knowledge_visits (
    refresh_id uuid not null references knowledge_refreshes on delete cascade,
    tenant_id uuid not null references tenants on delete cascade,
    location text not null,
    number bigint generated always as identity,
    depth int not null,
    etag text,
    done boolean not null default false,
    attempts int not null default 0,
    waits int not null default 0,
    not_before timestamptz not null default now(),
    primary key (refresh_id, location)
);
create index on knowledge_visits (refresh_id, number) where not done;

-- A document under its canonical location. `links` are what a crawl goes on with when the server says that nothing changed.
-- A document whose new version cannot be read keeps its old passages. Validators, as the server wrote them, and the hash
-- are those of the version that is indexed, and null where the last version that was seen is another. `refresh_id` is the
-- last refresh that met the document (no foreign key: the history is shorter than the life of a document). `served_from` is
-- the location that answered with the indexed version: its validators say nothing of another one.
create table knowledge_documents (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    source_id uuid not null references knowledge_sources on delete cascade,
    location text not null,
    title text,
    language text,
    media_type text,
    served_from text,
    etag text,
    last_modified text,
    body_hash text,
    status text not null check (status in ('indexed', 'empty', 'refused', 'unreachable', 'gone')),
    reason text,
    warnings jsonb not null default '[]',
    links jsonb not null default '[]',
    missing_since timestamptz,
    refresh_id uuid,
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
-- ask the old one while the new version is being built. A retired one waits for its vectors to be deleted, bit by bit.
create table knowledge_indexes (
    id uuid primary key default gen_random_uuid(),
    tenant_id uuid not null references tenants on delete cascade,
    model text not null,
    address jsonb not null,
    status text not null check (status in ('building', 'active', 'retired')),
    queued_until timestamptz,
    lease uuid,
    lease_expires_at timestamptz,
    created_at timestamptz not null default now()
);
create unique index on knowledge_indexes (tenant_id) where status = 'active';
create unique index on knowledge_indexes (tenant_id) where status = 'building';
create index on knowledge_indexes (tenant_id);

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

-- Chunks that the model of an index refuses to embed: found by their words only, and not asked for again.
create table knowledge_refusals (
    index_id uuid not null references knowledge_indexes on delete cascade,
    chunk_id uuid not null references knowledge_chunks on delete cascade,
    tenant_id uuid not null references tenants on delete cascade,
    primary key (index_id, chunk_id)
);
create index on knowledge_refusals (chunk_id);

do $$
declare
    name text;
begin
    foreach name in array array['knowledge_sources', 'knowledge_refreshes', 'knowledge_visits', 'knowledge_documents',
                                'knowledge_aliases', 'knowledge_indexes', 'knowledge_chunks', 'knowledge_vectors',
                                'knowledge_refusals'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format(
            'create policy %I on %I to {app} using (tenant_id = nullif(current_setting(''app.tenant'', true), '''')::uuid)',
            name || '_tenant', name);
        execute format('grant select, insert, update, delete on %I to {app}', name);
    end loop;
end $$;

-- Refreshes to start or to go on with, and index versions to go on building or deleting, across tenants: ids, and the mark
-- that they are queued now. What is locked at this moment is being marked or claimed by somebody else.
create function take_due_knowledge(most int, hold_seconds double precision)
returns table (tenant_id uuid, source_id uuid, index_id uuid)
language sql volatile security definer set search_path = {schema}, pg_temp as $$
    with due_sources as (
        select s.id from knowledge_sources s
        where s.status = 'active' and s.next_refresh_at <= now()
            and coalesce(s.queued_until, '-infinity') < now() and coalesce(s.lease_expires_at, '-infinity') < now()
        order by s.next_refresh_at limit most for update skip locked
    ), due_indexes as (
        select i.id from knowledge_indexes i
        where i.status <> 'active'
            and coalesce(i.queued_until, '-infinity') < now() and coalesce(i.lease_expires_at, '-infinity') < now()
        order by i.created_at limit most for update skip locked
    ), sources as (
        update knowledge_sources s set queued_until = now() + make_interval(secs => hold_seconds)
        from due_sources d where s.id = d.id returning s.tenant_id, s.id
    ), indexes as (
        update knowledge_indexes i set queued_until = now() + make_interval(secs => hold_seconds)
        from due_indexes d where i.id = d.id returning i.tenant_id, i.id
    )
    select s.tenant_id, s.id, null::uuid from sources s
    union all
    select i.tenant_id, null::uuid, i.id from indexes i
$$;

-- What that function needs and nothing more: to look and to mark.
do $$
declare
    name text;
begin
    foreach name in array array['knowledge_sources', 'knowledge_indexes'] loop
        execute format('create policy %I on %I to {cross} using (true) with check (true)', name || '_cross', name);
        execute format('grant select, update (queued_until) on %I to {cross}', name);
    end loop;
end $$;
alter function take_due_knowledge(int, double precision) owner to {cross};
revoke execute on function take_due_knowledge(int, double precision) from public;
grant execute on function take_due_knowledge(int, double precision) to {app};
