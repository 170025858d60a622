-- Names are looked up by the trigrams of their words, so that typos, another order of the words and missing ones still find
-- them. This only bounds what the similarity is measured on (catalog/person_lookup.py). pg_trgm is not there (DESIGN §5).

-- Accents are combining marks after the decomposition; scripts without case or accents pass unchanged. The collation is
-- that of fold_text (0006), because the database's own may know ASCII alone.
create function name_grams(name text) returns tsvector
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select array_to_tsvector(coalesce(array_agg(distinct substr(padded, start, 3)), '{{}}'))
    from (
        select '  ' || word || ' ' as padded
        from regexp_split_to_table(
            regexp_replace(normalize(casefold(name collate "pg_unicode_fast"), NFKD), '[\u0300-\u036f]', '', 'g'),
            '[\s[:punct:]]+') as word
        where word <> ''
    ) as words
    cross join generate_series(1, length(padded) - 2) as start
$$;

alter table people add column name_grams tsvector not null
    generated always as (name_grams(first_name || ' ' || last_name)) stored;
create index on people using gin (name_grams);

-- People whose names share most trigrams with the asked one. Every common trigram adds the same to ts_rank, because
-- these vectors have no positions. As {cross}: @@ is not leakproof (0003).
create function find_people_by_name(asked text, excluded text, max_rows int) returns table (person_id text)
language plpgsql stable security definer set search_path = {schema}, pg_temp as $$
declare
    tenant uuid := current_tenant();
    grams tsquery := (select string_agg(quote_literal(lexeme), '|')::tsquery from unnest(name_grams(asked)));
begin
    return query
        select found.external_id
        from people as found
        where found.tenant_id = tenant and found.active and found.name_grams @@ grams and found.external_id <> excluded
        order by ts_rank(found.name_grams, grams) desc, found.external_id collate "C"
        limit max_rows;
end $$;

alter function find_people_by_name(text, text, int) owner to {cross};
revoke all on function find_people_by_name(text, text, int) from public;
grant execute on function find_people_by_name(text, text, int) to {app};
