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
create index on knowledge_queries (at);

alter table knowledge_queries enable row level security;
alter table knowledge_queries force row level security;
create policy knowledge_queries_tenant on knowledge_queries to {app}
    using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
grant select, insert, update, delete on knowledge_queries to {app};

-- The two searches, by text and by vector, run as {cross} (0003 says why) and see no more than they need.
do $$
declare
    name text;
begin
    foreach name in array array['knowledge_sources', 'knowledge_documents', 'knowledge_chunks', 'knowledge_vectors'] loop
        execute format('create policy %I on %I for select to {cross} using (true)', name || '_search', name);
        execute format('grant select on %I to {cross}', name);
    end loop;
end $$;

-- Ranking reads the words of hundreds of chunks: in their row, compressed, and not in a table beside it.
alter table knowledge_chunks alter column search set storage main;

create index on knowledge_vectors using hnsw (embedding public.halfvec_cosine_ops);

-- The words of a chunk as its tenant's own: with the tenant inside each lexeme (facet, 0006), the work of a search does
-- not grow with other tenants. Only the index holds them. The cost keeps the planner from computing them row by row.
create function tenant_lexemes(tenant uuid, lexemes text[]) returns text[]
language sql immutable parallel safe cost 10000 set search_path = {schema}, pg_temp as $$
    select coalesce(array_agg(facet(tenant, 'word', lexeme)), '{{}}') from unnest(lexemes) as lexeme
$$;

create function tenant_words(tenant uuid, search tsvector) returns tsvector
language sql immutable parallel safe cost 10000 set search_path = {schema}, pg_temp as $$
    select array_to_tsvector(tenant_lexemes(tenant, tsvector_to_array(search)))
$$;

create index on knowledge_chunks using gin (tenant_words(tenant_id, search));

-- The ids of a tenant's chunks are hashes, so the first ones in their order are a fair sample of its texts.
create index on knowledge_chunks (tenant_id, id);

-- What a tenant may find: chunks of documents that are there, from sources that are active. Searches look it up for the
-- nearest rows until they have enough, instead of joining all rows first.
create function shown_sources(tenant uuid) returns uuid[]
language sql stable set search_path = {schema}, pg_temp as $$
    select array_agg(id) from knowledge_sources where tenant_id = tenant and status = 'active'
$$;

create type weighed_word as (config regconfig, lexeme text, place int, hits float, share float);

-- The words of a question, each with its weight for chunks in that language: the rarer a word is among the tenant's
-- chunks, the more it says (the inverse document frequency of BM25). `place` counts them from the rarest on, at most 16
-- of each language, because a question may be a page long; `hits` estimates how many chunks have the word.
create function weigh_words(tenant uuid, words text) returns setof weighed_word
language sql stable set search_path = {schema}, pg_temp as $$
    with sample as materialized (
        select id, search || '' as search from knowledge_chunks where tenant_id = tenant order by id limit 300
    ), size as (
        -- Ids spread evenly: where the 300th of them lies says how many there are.
        select count(*) as seen,
               case when count(*) < 300 then 1
                    else 2 ^ 32 / (1 + ('x' || left(max(id::text), 8))::bit(32)::bigint) end as scale
        from sample
    ), asked as materialized (
        select config, lexeme, any_lexeme(array[lexeme]) as query
        from unnest(array['english', 'french', 'spanish', 'simple']::regconfig[]) as config
        cross join unnest(tsvector_to_array(to_tsvector(config, words))) as lexeme
    ), counted as (
        select lexeme, count(sample) as seen
        from (select distinct lexeme, query from asked) as each left join sample on sample.search @@ each.query
        group by lexeme
    ), weighed as (
        select config, lexeme, counted.seen * scale as hits,
               ln(1 + (size.seen - counted.seen + 0.5) / (counted.seen + 0.5)) as weight,
               row_number() over (partition by config order by counted.seen, lexeme) as place
        from asked join counted using (lexeme) cross join size
    )
    select config, lexeme, place::int, hits, weight / sum(weight) over (partition by config)
    from weighed where place <= 16
$$;

-- What finds the chunks that have at least the share `threshold` of a question's weight, null without words. Such a chunk has
-- one of the rarest words that make up the rest. Where those are too common, it should have two of the four rarest.
create function find_query(tenant uuid, weighed weighed_word[], threshold float, ranked int) returns tsquery
language sql stable set search_path = {schema}, pg_temp as $$
    with asked as materialized (
        select config, place, hits, facet(tenant, 'word', lexeme) as word,
               sum(share) over (partition by config order by place) - share as before
        from unnest(weighed)
    ), single as (
        select string_agg(word, ' | ') as query, sum(hits) as hits
        from (select distinct word, hits from asked where before <= 1 - threshold) as each
    ), paired as (
        select string_agg(format('%s & %s', one.word, other.word), ' | ') as query
        from asked as one join asked as other using (config) where one.place < other.place and other.place <= 4
    )
    select case when single.hits <= ranked or paired.query is null then single.query else paired.query end::tsquery
    from single cross join paired
$$;

-- The chunks that have at least the share `threshold` of a question's weight, ranked by all of its words; `strength` is that
-- share, from 0 to 1.
create function search_knowledge_by_text(words text, threshold float, max_rows int)
returns table (chunk_id uuid, strength real)
language plpgsql stable security definer
set search_path = {schema}, pg_temp
set work_mem = '16MB'
as $$
#variable_conflict use_column
declare
    tenant uuid := current_tenant();
    shown uuid[] := shown_sources(tenant);
    ranked constant int := 500;
    weighed weighed_word[] := array(select word from weigh_words(tenant, words) as word);
    wanted tsquery := find_query(tenant, weighed, threshold, ranked);
begin
    return query
        with asked as materialized (
            select config, any_lexeme(array[lexeme]) as query, share from unnest(weighed)
        ), found as materialized (
            select id, document_id, text_search_config(language) as config, search || '' as search
            from knowledge_chunks
            where tenant_words(tenant_id, search) @@ wanted
            limit 2 * ranked
        ), scored as (
            select found.id, found.document_id, sum(asked.share)::real as coverage,
                   sum(asked.share * ts_rank(found.search, asked.query)) as score
            from found join asked on found.config = asked.config and found.search @@ asked.query
            group by found.id, found.document_id
            having sum(asked.share) >= threshold
        )
        select scored.id, scored.coverage
        from scored join knowledge_documents as document on document.id = scored.document_id
        where document.tenant_id = tenant and document.source_id = any (shown) and document.status <> 'gone'
        order by scored.score desc, scored.id
        limit max_rows;
end $$;

-- The nearest chunks of an index. Up to `few` of them are compared one by one, which is always right: they lie side by
-- side in the table, so a comparison costs 0.6 to 1 us where a row that the HNSW index looks at costs some 10. Where f of
-- n rows are the tenant's, the index looks at k n / f to find k of them, so the costs meet near f = 4 sqrt(k n). Above
-- that the index is asked; it gives up after 20,000 rows, as when most of the nearest are hidden, and the search is exact.
--
-- Measured with a million chunks (local/bench/knowledge_search.py), the tenant with 60 % of them, the part of the true ten
-- nearest that are found | ms: ef_search 100 0.68 | 11, 200 0.78 | 18, 400 0.90 | 27, 800 0.96 | 47. A better graph
-- (m, ef_construction) would be paid by every refresh, this only by the searches of those who have many chunks.
create function search_knowledge_by_vector(asked public.halfvec, asked_index uuid, max_rows int)
returns table (chunk_id uuid, strength real)
language plpgsql stable security definer
set search_path = {schema}, pg_temp
set hnsw.iterative_scan = 'relaxed_order'
set hnsw.max_scan_tuples = 20000
set hnsw.ef_search = 800
set enable_sort = off
as $$
#variable_conflict use_column
declare
    tenant uuid := current_tenant();
    shown uuid[] := shown_sources(tenant);
    few constant int := 4 * greatest(5000, exact_rows('knowledge_vectors', max_rows));
    many boolean := (
        select count(*) > few from (select from knowledge_vectors where index_id = asked_index limit few + 1) as counted);
    nearest uuid[];
    depth int;
begin
    if public.l2_norm(asked) = 0 then
        return;
    end if;
    if many then
        nearest := array(
            select vector.chunk_id
            from knowledge_vectors as vector
            join knowledge_chunks as chunk on chunk.id = vector.chunk_id
            join knowledge_documents as document on document.id = chunk.document_id
            where vector.index_id = asked_index and vector.tenant_id = tenant
                and document.source_id = any (shown) and document.status <> 'gone'
            order by vector.embedding operator(public.<=>) asked
            limit max_rows);
    end if;
    -- The nearest are looked up first; all are, where most of the nearest are hidden. The order is asked for again after each
    -- join: without it the planner is free to lose it, and does so once it has statistics.
    foreach depth in array array[4 * max_rows, null] loop
        exit when cardinality(nearest) = max_rows;
        nearest := array(
            with measured as materialized (
                select vector.chunk_id, vector.embedding operator(public.<=>) asked as distance
                from knowledge_vectors as vector
                where vector.index_id = asked_index and vector.tenant_id = tenant
            ), ordered as materialized (
                select * from measured where distance <> 'NaN' order by distance, chunk_id limit depth
            )
            select ordered.chunk_id
            from ordered
            join knowledge_chunks as chunk on chunk.id = ordered.chunk_id
            join knowledge_documents as document on document.id = chunk.document_id
            where document.source_id = any (shown) and document.status <> 'gone'
            order by ordered.distance, ordered.chunk_id
            limit max_rows);
    end loop;
    return query
        with measured as materialized (
            select vector.chunk_id, vector.embedding operator(public.<=>) asked as distance
            from knowledge_vectors as vector
            where vector.index_id = asked_index and vector.chunk_id = any (nearest)
        )
        select measured.chunk_id, (1 - measured.distance)::real from measured
        where measured.distance <> 'NaN' order by measured.distance, measured.chunk_id;
end $$;

do $$
declare
    signature text;
begin
    foreach signature in array array['search_knowledge_by_text(text, float, int)',
                                     'search_knowledge_by_vector(public.halfvec, uuid, int)'] loop
        execute format('alter function %s owner to {cross}', signature);
        execute format('revoke all on function %s from public', signature);
        execute format('grant execute on function %s to {app}', signature);
        execute format('alter function %s set plan_cache_mode = force_custom_plan', signature);
        execute format('alter function %s set jit = off', signature);
    end loop;
end $$;
