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
