-- What a person uploaded into a conversation, as extracted text; feedback on messages; stored skill scores.

create table documents (
    id uuid primary key default gen_random_uuid(),
    tenant_id uuid not null references tenants on delete cascade,
    conversation_id uuid not null references conversations on delete cascade,
    name text not null,
    media_type text not null,
    bytes bigint not null,
    pages int,
    characters int not null,
    title text,
    warnings jsonb not null default '[]',
    content text not null,
    -- The presigned upload that it came by: taking the same one again finds the document stored.
    upload_id uuid,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    unique (conversation_id, name)
);
create index on documents (tenant_id);

-- A withdrawn feedback keeps its row without rating and comment: that it was withdrawn is what the operator learns.
-- `trace_id` names the turn's run as tracing does (oria_runtime/tracing.py).
create table feedback (
    message_id uuid primary key references messages on delete cascade,
    tenant_id uuid not null references tenants on delete cascade,
    turn_id uuid not null references turns on delete cascade,
    trace_id text not null,
    user_id text not null,
    status text not null check (status in ('given', 'changed', 'withdrawn')),
    rating text check (rating in ('up', 'down')),
    comment text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    check ((status = 'withdrawn') = (rating is null) and (rating is not null or comment is null))
);
create index on feedback (tenant_id);
create index on feedback (turn_id);

-- The skill score of a person for a job: weighted coverage from 0 to 1. `version` names the rule that computed it and
-- `inputs_hash` what it was computed from, so that another profile or job makes the score stale.
create table skill_scores (
    tenant_id uuid not null references tenants on delete cascade,
    person_id text not null,
    job_code text not null,
    score double precision not null check (score between 0 and 1),
    version int not null,
    inputs_hash text not null,
    computed_at timestamptz not null default now(),
    primary key (tenant_id, person_id, job_code)
);

do $$
declare
    name text;
begin
    foreach name in array array['documents', 'feedback', 'skill_scores'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format(
            'create policy %I on %I to {app} using (tenant_id = nullif(current_setting(''app.tenant'', true), '''')::uuid)',
            name || '_tenant', name);
        execute format('grant select, insert, update, delete on %I to {app}', name);
    end loop;
end $$;
