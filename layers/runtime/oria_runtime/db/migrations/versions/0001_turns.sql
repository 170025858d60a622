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
    head_checkpoint text,
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
    turn_seconds double precision not null default 400,
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
create index turns_waiting on turns (created_at) where status = 'queued';
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
    conversation_id uuid not null references conversations on delete cascade,
    turn_id uuid not null references turns on delete cascade,
    detail_type text not null,
    detail jsonb not null,
    created_at timestamptz not null default now(),
    sent_at timestamptz
);
create index outbox_unsent on outbox (created_at) where sent_at is null;
create index outbox_unsent_of on outbox (conversation_id) where sent_at is null;
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

-- Model usage per task label: stages and memory add theirs independently. An unknown cost makes the sum unknown.
create function merge_usage(kept jsonb, added jsonb) returns jsonb language sql immutable as $$
    select coalesce(jsonb_object_agg(label, merged), '{{}}')
    from (
        select label, jsonb_object_agg(name, to_jsonb(total)) as merged
        from (
            select label, name, case when bool_and(amount is not null) then sum(amount::numeric) end as total
            from (values (kept), (added)) as usages (usage),
                jsonb_each(usage) as labels (label, amounts),
                jsonb_each_text(amounts) as numbers (name, amount)
            group by label, name
        ) as totals
        group by label
    ) as merged
$$;

-- What the sweeper must look at: ids and a reason, across tenants. Every decision is taken again under a row lock.
create function due_turns(most int) returns table (tenant_id uuid, turn_id uuid, reason text)
language sql stable security definer set search_path = {schema}, pg_temp as $$
    (select o.tenant_id, o.turn_id, 'unsent' from outbox o
        where o.sent_at is null and o.created_at < now() - interval '5 seconds' order by o.created_at limit most)
    union
    (select t.tenant_id, t.id, case when t.claim is null then 'unclaimed' else 'expired_lease' end from turns t
        where t.status in ('accepted', 'running')
            and case when t.claim is null then t.dispatched_at < now() - interval '30 seconds' * t.dispatches
                else t.lease_expires_at < now() end
        order by t.dispatched_at limit most)
    union
    (select t.tenant_id, t.id, 'overdue' from turns t
        where t.status in ('accepted', 'running') and t.claim is null and t.deadline_at < now() limit most)
    union
    (select i.tenant_id, i.turn_id, 'expired_interaction' from interactions i
        where i.status = 'pending' and i.expires_at < now() order by i.expires_at limit most)
    union
    (select q.tenant_id, q.id, 'stranded' from turns q
        where q.status = 'queued' and q.created_at < now() - interval '5 seconds' and not exists (
            select from turns a where a.conversation_id = q.conversation_id
                and a.status in ('accepted', 'running', 'awaiting_input'))
        order by q.created_at limit most)
$$;

create function due_conversations(most int) returns table (tenant_id uuid, conversation_id uuid)
language sql stable security definer set search_path = {schema}, pg_temp as $$
    select c.tenant_id, c.id from conversations c join tenants t on t.id = c.tenant_id
    where c.updated_at < now() - interval '1 day' * coalesce((t.config ->> 'retention_days')::int, 365)
    order by c.updated_at limit most
$$;
create index on conversations (updated_at);

alter function due_turns(int) owner to {cross};
alter function due_conversations(int) owner to {cross};
revoke execute on function due_turns(int), due_conversations(int) from public;
grant execute on function due_turns(int), due_conversations(int) to {app};
grant usage on schema {schema} to {cross};
