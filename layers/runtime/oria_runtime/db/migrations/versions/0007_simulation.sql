-- Simulations that a tool has prepared. `card` is what the person sees; `scenario` holds besides it what the person must
-- not see: how the counterpart thinks, and what the assessment looks for. A row goes with the turn that suggested it; a
-- tool whose turn failed leaves one that nothing shows and nobody can start.
create table simulations (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    user_id text not null,
    turn_id uuid not null references turns on delete cascade,
    locale text not null,
    card jsonb not null,
    scenario jsonb not null,
    created_at timestamptz not null default now()
);
create index on simulations (turn_id);

-- What a conversation was started with: `{{simulation_id, card, scenario}}`, a copy, so that it outlives the conversation
-- in which the simulation was suggested and goes with its own. Null for an ordinary conversation.
alter table conversations add column start jsonb;

alter table simulations enable row level security;
alter table simulations force row level security;
create policy simulations_tenant on simulations to {app}
    using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
grant select, insert, update, delete on simulations to {app};
