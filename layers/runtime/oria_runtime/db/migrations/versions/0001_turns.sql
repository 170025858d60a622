-- Every table here has tenant_id, and a policy that compares it with the transaction's setting. The role {cross} owns
-- the few SECURITY DEFINER functions that cross tenants by nature; they return ids only.

create table tenants (
    id uuid primary key,
    slug text not null unique,
    name text not null,
    config jsonb not null default '{{}}',
    created_at timestamptz not null default now()
);

create table conversations (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    user_id text not null,
    assistant text not null,
    locale text,
    title text,
    message_count int not null default 0,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
);
create index on conversations (tenant_id, user_id, updated_at desc, id);

create table turns (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    conversation_id uuid not null references conversations on delete cascade,
    user_id text not null,
    assistant text not null,
    status text not null check (status in
        ('queued', 'accepted', 'running', 'awaiting_input', 'completed', 'blocked', 'failed', 'cancelled')),
    message text not null,
    locale text not null,
    requested_agent text,
    agent text,
    interactions boolean not null default true,
    request jsonb not null default '{{}}',
    idempotency_key text,
    request_hash text,
    graph_key text,
    stage_map_hash text,
    seq int not null default 0,
    stage text,
    directive text,
    resume_stage text,
    head_checkpoint text,
    claim uuid,
    claim_request_id text,
    claimed_at timestamptz,
    lease_expires_at timestamptz,
    dispatched_at timestamptz,
    dispatches int not null default 0,
    cancel_requested boolean not null default false,
    budgets jsonb not null default '{{}}',
    deadline_at timestamptz,
    event_seq int not null default 0,
    outcome jsonb,
    usage jsonb not null default '{{}}',
    sealed_context bytea,
    sealed_expires_at timestamptz,
    memory_claim uuid,
    created_at timestamptz not null default now(),
    started_at timestamptz,
    finished_at timestamptz
);
-- At most one active turn per conversation (DESIGN §1).
create unique index turns_one_active on turns (conversation_id)
    where status in ('accepted', 'running', 'awaiting_input');
create index turns_queue on turns (conversation_id, created_at, id) where status = 'queued';
create unique index turns_idempotency on turns (tenant_id, user_id, idempotency_key)
    where idempotency_key is not null;
create index turns_live on turns (dispatched_at) where status in ('accepted', 'running');
create index on turns (tenant_id, conversation_id, created_at);

create table interactions (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    turn_id uuid not null references turns on delete cascade,
    conversation_id uuid not null references conversations on delete cascade,
    status text not null check (status in ('pending', 'reserved', 'answered', 'expired', 'cancelled')),
    interrupt_id text not null,
    questions jsonb not null,
    response jsonb,
    reserved_seq int,
    expires_at timestamptz not null,
    created_at timestamptz not null default now(),
    answered_at timestamptz
);
create unique index interactions_one_open on interactions (turn_id) where status in ('pending', 'reserved');
create index interactions_expiry on interactions (expires_at) where status = 'pending';
create index on interactions (conversation_id);

create table messages (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    conversation_id uuid not null references conversations on delete cascade,
    turn_id uuid not null references turns on delete cascade,
    position int not null,
    role text not null check (role in ('user', 'assistant')),
    text text not null,
    cards jsonb not null default '[]',
    sources jsonb not null default '[]',
    at timestamptz not null default now(),
    unique (conversation_id, position)
);
create index on messages (turn_id);

create table turn_events (
    turn_id uuid not null references turns on delete cascade,
    event_seq int not null,
    tenant_id uuid not null references tenants on delete cascade,
    type text not null,
    data jsonb not null,
    at timestamptz not null default clock_timestamp(),
    primary key (turn_id, event_seq)
);

create table outbox (
    id bigint generated always as identity primary key,
    tenant_id uuid not null references tenants on delete cascade,
    turn_id uuid not null references turns on delete cascade,
    detail_type text not null,
    detail jsonb not null,
    created_at timestamptz not null default now(),
    sent_at timestamptz
);
create index outbox_unsent on outbox (created_at) where sent_at is null;
create index on outbox (turn_id);

-- The version of a person's preference list; the list itself is in LangGraph's store (DESIGN §2.5).
create table preference_versions (
    tenant_id uuid not null references tenants on delete cascade,
    user_id text not null,
    version int not null default 0,
    turn_created_at timestamptz,
    primary key (tenant_id, user_id)
);

do $$
declare
    name text;
begin
    foreach name in array array['tenants', 'conversations', 'turns', 'interactions', 'messages', 'turn_events', 'outbox',
                                'preference_versions'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format(
            'create policy %I on %I to {app} using (%I = nullif(current_setting(''app.tenant'', true), '''')::uuid)',
            name || '_tenant', name, case name when 'tenants' then 'id' else 'tenant_id' end);
        execute format('create policy %I on %I to {cross} using (true) with check (true)', name || '_cross', name);
        execute format('grant select, insert, update, delete on %I to {app}', name);
        execute format('grant select on %I to {cross}', name);
    end loop;
end $$;
revoke delete on tenants from {app};
