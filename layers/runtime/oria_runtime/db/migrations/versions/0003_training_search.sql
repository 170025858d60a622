-- Searches run as {cross}, because neither @@ nor <=> is leakproof: under the policy they would be evaluated for every row
-- of every tenant. The tenant is applied inside, from the transaction's setting; without one there is no search.

create function current_tenant() returns uuid
language plpgsql stable set search_path = {schema}, pg_temp as $$
declare
    tenant uuid := nullif(current_setting('app.tenant', true), '')::uuid;
begin
    if tenant is null then
        raise exception 'a search needs the tenant of its transaction' using errcode = 'insufficient_privilege';
    end if;
    return tenant;
end $$;

-- A question in words is no conjunction: any word may match, and the rank says how well. Empty when only stop words remain.
create function any_word_query(config regconfig, words text) returns tsquery
language sql immutable parallel safe set search_path = {schema}, pg_temp as $$
    select replace(plainto_tsquery(config, words)::text, ' & ', ' | ')::tsquery
$$;

create function search_trainings_by_text(
    words text, languages text[], levels text[], formats text[], max_minutes int, excluded text[], max_rows int
) returns table (training_id text, score real)
language plpgsql stable security definer set search_path = {schema}, pg_temp as $$
#variable_conflict use_column
declare
    tenant uuid := current_tenant();
begin
    return query
        select found.external_id, ts_rank(found.search, asked.query, 1)
        from (
            select config, any_word_query(config, words) as query
            from unnest(array['english', 'french', 'spanish', 'simple']::regconfig[]) as config
        ) as asked
        join trainings as found
            on found.search @@ asked.query and text_search_config(found.language) = asked.config
        where found.tenant_id = tenant and found.active
            and (languages is null or found.language = any (languages))
            and (levels is null or found.level = any (levels))
            and (formats is null or found.format = any (formats))
            and (max_minutes is null or found.duration_minutes <= max_minutes)
            and not (found.external_id = any (excluded))
        order by 2 desc, found.external_id collate "C"
        limit max_rows;
end $$;

-- The HNSW index holds all tenants. Its iterative scan goes on past foreign rows, but gives up after max_scan_tuples; a
-- small tenant that came out short is then searched exactly, so that it always gets its rows.
create function search_trainings_by_vector(
    asked public.vector, model text,
    languages text[], levels text[], formats text[], max_minutes int, excluded text[], max_rows int
) returns table (training_id text, score real)
language plpgsql stable security definer
set search_path = {schema}, pg_temp
set hnsw.iterative_scan = 'strict_order'
set hnsw.max_scan_tuples = 20000
as $$
#variable_conflict use_column
declare
    tenant uuid := current_tenant();
    nearest uuid[];
begin
    nearest := array(
        select found.id
        from trainings as found
        where found.tenant_id = tenant and found.active and found.embedding_model = model
            and (languages is null or found.language = any (languages))
            and (levels is null or found.level = any (levels))
            and (formats is null or found.format = any (formats))
            and (max_minutes is null or found.duration_minutes <= max_minutes)
            and not (found.external_id = any (excluded)) and found.embedding is not null
        order by found.embedding operator(public.<=>) asked
        limit max_rows
    );
    if cardinality(nearest) < max_rows then
        return query
            with mine as materialized (
                select found.external_id, found.embedding operator(public.<=>) asked as distance
                from trainings as found
                where found.tenant_id = tenant and found.active and found.embedding_model = model
                    and found.embedding is not null
                    and (languages is null or found.language = any (languages))
                    and (levels is null or found.level = any (levels))
                    and (formats is null or found.format = any (formats))
                    and (max_minutes is null or found.duration_minutes <= max_minutes)
                    and not (found.external_id = any (excluded))
            )
            select mine.external_id, (1 - mine.distance)::real
            from mine
            order by mine.distance, mine.external_id collate "C"
            limit max_rows;
    else
        return query
            select found.external_id, (1 - (found.embedding operator(public.<=>) asked))::real
            from trainings as found
            where found.id = any (nearest)
            order by found.embedding operator(public.<=>) asked, found.external_id collate "C";
    end if;
end $$;

do $$
declare
    signature text;
begin
    foreach signature in array array[
        'search_trainings_by_text(text, text[], text[], text[], int, text[], int)',
        'search_trainings_by_vector(public.vector, text, text[], text[], text[], int, text[], int)'
    ] loop
        execute format('alter function %s owner to {cross}', signature);
        execute format('revoke all on function %s from public', signature);
        execute format('grant execute on function %s to {app}', signature);
    end loop;
end $$;
