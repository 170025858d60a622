-- The catalog. `external_id` is the customer's own id (for people: the user of the JWT); `id` is derived from tenant, kind
-- and external id, so that a link can name a row that a later batch of the same import brings.
-- content_hash: the imported values, so that unchanged rows stay untouched. embedding_hash: embedded text and model.

-- Immutable, because generated columns need it; searches must use the same function for their queries.
create function text_search_config(language text) returns regconfig
language sql immutable parallel safe as $$
    select case split_part(lower(language), '-', 1)
        when 'en' then 'pg_catalog.english'::regconfig
        when 'fr' then 'pg_catalog.french'::regconfig
        when 'es' then 'pg_catalog.spanish'::regconfig
        else 'pg_catalog.simple'::regconfig
    end
$$;

-- array_to_string is only stable (its element type could print by a setting); for text[] it is immutable in fact.
create function join_texts(texts text[]) returns text
language sql immutable parallel safe as $$
    select coalesce(array_to_string(texts, ' '), '')
$$;

create table people (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    external_id text not null,
    language text not null default 'en',
    first_name text not null default '',
    last_name text not null default '',
    email text,
    job_title text,
    job_code text,
    department text,
    location text,
    work_mode text check (work_mode in ('on_site', 'hybrid', 'remote')),
    classification text,
    hire_date date,
    skill_codes text[] not null default '{{}}',
    profile jsonb not null default '{{}}',
    active boolean not null default true,
    content_hash text not null,
    embedding public.vector(512),
    embedding_model text,
    embedding_hash text,
    search tsvector not null generated always as (
        setweight(to_tsvector(text_search_config(language), coalesce(job_title, '')), 'A') ||
        setweight(to_tsvector('pg_catalog.simple', first_name || ' ' || last_name), 'A') ||
        setweight(to_tsvector(text_search_config(language),
                              coalesce(department, '') || ' ' || coalesce(location, '')), 'B') ||
        setweight(to_tsvector(text_search_config(language),
                              coalesce(jsonb_path_query_array(profile, '$.skills[*].label')::text, '')), 'C')
    ) stored,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    unique (tenant_id, external_id)
);

create table skills (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    external_id text not null,
    language text not null default 'en',
    label text not null,
    alternative_labels text[] not null default '{{}}',
    description text not null default '',
    category text,
    active boolean not null default true,
    content_hash text not null,
    embedding public.vector(512),
    embedding_model text,
    embedding_hash text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    unique (tenant_id, external_id)
);

create table jobs (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    external_id text not null,
    language text not null default 'en',
    title text not null,
    alternative_titles text[] not null default '{{}}',
    description text not null default '',
    family text,
    classification_code text,
    skills jsonb not null default '[]',
    active boolean not null default true,
    content_hash text not null,
    embedding public.vector(512),
    embedding_model text,
    embedding_hash text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    unique (tenant_id, external_id)
);

create table trainings (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    external_id text not null,
    language text not null default 'en',
    title text not null,
    description text not null default '',
    provider text,
    duration_minutes int check (duration_minutes > 0),
    level text check (level in ('beginner', 'intermediate', 'advanced')),
    format text check (format in ('online', 'video', 'virtual_class', 'classroom', 'blended', 'on_the_job')),
    skills text[] not null default '{{}}',
    keywords text[] not null default '{{}}',
    url text,
    price numeric(12, 2) check (price >= 0),
    currency text,
    active boolean not null default true,
    content_hash text not null,
    embedding public.vector(512),
    embedding_model text,
    embedding_hash text,
    search tsvector not null generated always as (
        setweight(to_tsvector(text_search_config(language), title), 'A') ||
        setweight(to_tsvector(text_search_config(language), join_texts(keywords)), 'B') ||
        setweight(to_tsvector(text_search_config(language), description), 'C')
    ) stored,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    unique (tenant_id, external_id)
);
create index on trainings (tenant_id, language) where active;

-- A table and not an array of trainings: array operators are not leakproof, so that a policy would keep their index from
-- being used. No foreign key on parent_id: a child may be imported in an earlier batch than its parent.
create table training_parents (
    tenant_id uuid not null references tenants on delete cascade,
    training_id uuid not null references trainings on delete cascade,
    parent_id uuid not null,
    primary key (training_id, parent_id),
    check (training_id <> parent_id)
);
create index on training_parents (parent_id);
create index on training_parents (tenant_id);

do $$
declare
    name text;
begin
    foreach name in array array['people', 'trainings'] loop
        execute format('create index on %I using gin (search)', name);
    end loop;
    foreach name in array array['people', 'skills', 'trainings'] loop
        -- The index is shared by all tenants: searches set hnsw.iterative_scan, or a small tenant finds nothing.
        execute format('create index on %I using hnsw (embedding public.vector_cosine_ops)', name);
    end loop;
    foreach name in array array['people', 'skills', 'jobs', 'trainings', 'training_parents'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format(
            'create policy %I on %I to {app} using (tenant_id = nullif(current_setting(''app.tenant'', true), '''')::uuid)',
            name || '_tenant', name);
        execute format('create policy %I on %I for select to {cross} using (true)', name || '_cross', name);
        execute format('grant select, insert, update, delete on %I to {app}', name);
        execute format('grant select on %I to {cross}', name);
    end loop;
end $$;

-- An operator names a tenant by its slug before any tenant is set.
create function tenant_by_slug(tenant_slug text) returns uuid
language sql stable security definer set search_path = {schema}, pg_temp as $$
    select id from tenants where slug = tenant_slug
$$;
alter function tenant_by_slug(text) owner to {cross};
revoke all on function tenant_by_slug(text) from public;
grant execute on function tenant_by_slug(text) to {app};
