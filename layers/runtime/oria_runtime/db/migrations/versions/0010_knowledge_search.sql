-- What searches of the knowledge found: no text, because a question is a message. `by_text` and `by_vector` are the chunks
-- of each list that were evidence; `by_vector` is null where the question could not be embedded.
create table knowledge_queries (
    id uuid primary key default gen_random_uuid(),
    tenant_id uuid not null references tenants on delete cascade,
    at timestamptz not null default now(),
    milliseconds real not null,
    by_text int not null,
    by_vector int,
    passages int not null,
    source_ids uuid[] not null default '{{}}'
);
create index on knowledge_queries (tenant_id, at);

alter table knowledge_queries enable row level security;
alter table knowledge_queries force row level security;
create policy knowledge_queries_tenant on knowledge_queries to {app}
    using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
grant select, insert, update, delete on knowledge_queries to {app};
