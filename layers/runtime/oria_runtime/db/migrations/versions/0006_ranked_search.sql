-- The two ranked searches of {table}, by text and by vector. One pattern for every kind: the row type, the parameters that
-- narrow it and the call of its `_within` function are filled in (0006_catalog_search.py).

create function search_{table}_by_text(words text, {parameters}, excluded text[], max_rows int)
returns table ({kind}_id text, score real)
language plpgsql stable security definer set search_path = {schema}, pg_temp as $$
#variable_conflict use_column
declare
    tenant uuid := current_tenant();
    {declarations}
    ranked constant int := 3000;
    condition text := concat_ws(' and ', format('tenant_id = %L', tenant), {conditions});
    lexemes text[] := rare_lexemes('{table}', condition, list_lexemes(words), ranked);
begin
    return query
        with asked as materialized (
            select config, any_word_query(config, words) as query
            from unnest(array['english', 'french', 'spanish', 'simple']::regconfig[]) as config
        )
        select found.external_id, ts_rank(found.search, asked.query, 1)
        from (
            select * from {table}_within({arguments}, excluded)
            where search @@ any_lexeme(lexemes) limit 2 * ranked
        ) as found
        join asked on text_search_config(found.language) = asked.config and found.search @@ asked.query
        order by 2 desc, found.external_id collate "C"
        limit max_rows;
end $$;

create function search_{table}_by_vector(
    asked public.vector, model text, {parameters}, excluded text[], max_rows int
) returns table ({kind}_id text, score real)
language plpgsql stable security definer
set search_path = {schema}, pg_temp
set hnsw.iterative_scan = 'strict_order'
set hnsw.max_scan_tuples = 20000
set enable_sort = off
as $$
#variable_conflict use_column
declare
    tenant uuid := current_tenant();
    {declarations}
    few int := exact_rows('{table}', max_rows);
    nearest uuid[] := array(
        select id from {table}_within({arguments}, excluded)
        where embedding_model = model and embedding is not null limit few + 1);
begin
    if public.vector_norm(asked) = 0 then
        return;
    end if;
    if cardinality(nearest) > few then
        perform set_config('hnsw.max_scan_tuples', (2 * few)::text, true);
        nearest := array(
            select id from {table}_within({arguments}, excluded)
            where embedding_model = model and embedding is not null
            order by embedding operator(public.<=>) asked limit max_rows);
        if cardinality(nearest) < max_rows then
            nearest := array(
                select id from {table}_within({arguments}, excluded)
                where embedding_model = model and embedding is not null);
        end if;
    end if;
    return query
        with mine as materialized (
            select found.external_id, found.embedding operator(public.<=>) asked as distance
            from {table} as found where found.id = any (nearest)
        )
        select mine.external_id, (1 - mine.distance)::real
        from mine
        where mine.distance <> 'NaN'
        order by mine.distance, mine.external_id collate "C"
        limit max_rows;
end $$;

call publish_search('search_{table}_by_text(text, {types}, text[], int)');
call publish_search('search_{table}_by_vector(public.vector, text, {types}, text[], int)');
