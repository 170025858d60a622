-- Openings inside the company: jobs, projects, missions, mentoring, internships. Columns as those of 0002.

create table opportunities (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    external_id text not null,
    language text not null default 'en',
    title text not null,
    description text not null default '',
    kind text not null default 'job' check (kind in ('job', 'project', 'mission', 'mentoring', 'internship')),
    department text,
    location text,
    work_mode text check (work_mode in ('on_site', 'hybrid', 'remote')),
    classification text,
    employment_type text check (employment_type in ('permanent', 'fixed_term', 'temporary', 'internship')),
    company text,
    job_code text,
    skills jsonb not null default '[]',
    skill_codes text[] not null default '{{}}',
    languages text[] not null default '{{}}',
    starts_on date,
    posted_on date,
    closes_on date,
    url text,
    active boolean not null default true,
    content_hash text not null,
    embedding public.vector(512),
    embedding_model text,
    embedding_hash text,
    search tsvector not null generated always as (
        setweight(to_tsvector(text_search_config(language), title), 'A') ||
        setweight(to_tsvector(text_search_config(language),
                              coalesce(department, '') || ' ' || coalesce(location, '') || ' '
                              || coalesce(company, '')), 'B') ||
        setweight(to_tsvector(text_search_config(language),
                              coalesce(jsonb_path_query_array(skills, '$[*].label')::text, '')), 'C') ||
        setweight(to_tsvector(text_search_config(language), description), 'D')
    ) stored,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    unique (tenant_id, external_id)
);
create index on opportunities using gin (search);
create index on opportunities using hnsw (embedding public.vector_cosine_ops);

alter table opportunities enable row level security;
alter table opportunities force row level security;
create policy opportunities_tenant on opportunities to {app}
    using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
create policy opportunities_cross on opportunities for select to {cross} using (true);
grant select, insert, update, delete on opportunities to {app};
grant select on opportunities to {cross};
