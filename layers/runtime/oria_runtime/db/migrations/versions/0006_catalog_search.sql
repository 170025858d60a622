-- Searches of opportunities, people, jobs and skills, after the pattern of 0003; structured criteria as facets.

-- Comparison across spellings, where the database has no unaccent: case, accents, ligatures and punctuation folded. The
-- collation is one that every Postgres 18 has and that knows all scripts, whatever the locale of the database.
create function fold_text(words text) returns text
language sql immutable parallel safe
return trim(regexp_replace(
    replace(replace(translate(
        casefold(regexp_replace(normalize(words, nfkd), '[\u0300-\u036f]', '', 'g') collate "pg_unicode_fast"),
        'øłđı', 'oldi'), 'œ', 'oe'), 'æ', 'ae'),
    '[\s\-_.,;:/\\''’()&|]+', ' ', 'g'));

-- A facet is one thing known of a row: its department, a skill. Facets are lexemes, because a GIN index answers any
-- tree of AND, OR and "followed by" over lexemes in one scan. They are hashes of a fixed length, because a lexeme is
-- bounded and a customer's value is not, and they contain the tenant, so that the work of a search does not grow with
-- other tenants.
create function facet(tenant uuid, field text, value text) returns text
language sql immutable parallel safe
return left(md5(tenant::text || ':' || field || ':' || value), 16);

-- The fields of which a part is enough ("analyst" in "Senior data analyst"): indexed word by word, with positions.
create function is_phrase(field text) returns boolean
language sql immutable parallel safe
return field in ('role', 'company', 'department', 'location', 'language');

-- Codes are compared as they are: "A-1" and "A.1" may be two skills. Words beyond the 32nd of a value are not indexed.
create function build_facets(tenant uuid, fields text[], entries text[]) returns tsvector
language sql immutable parallel safe
begin atomic
    with listed as (
        select field, case field when 'code' then entry else fold_text(entry) end as value, number
        from unnest(fields, entries) with ordinality as given (field, entry, number)
    )
    select coalesce(string_agg(lexeme, ' '), '')::tsvector
    from (
        select facet(tenant, field, value) as lexeme
        from listed
        where value <> '' and not is_phrase(field)
        union all
        select facet(tenant, field, word) || ':' || number * 40 + place
        from listed cross join unnest(string_to_array(value, ' ')) with ordinality as split (word, place)
        where value <> '' and is_phrase(field) and place <= 32
    ) as lexemes;
end;

create function person_facets(
    tenant uuid, job_title text, department text, location text, classification text, work_mode text, profile jsonb
) returns tsvector
language sql immutable parallel safe
begin atomic
    select build_facets(tenant, array_agg(field), array_agg(entry))
    from (
        values ('role', job_title), ('department', department), ('location', location),
               ('classification', classification), ('work_mode', work_mode)
        union all
        select part.field, item ->> part.key
        from jsonb_path_query(profile, '$.experiences[*]') as item
        cross join (values ('role', 'title'), ('company', 'company'), ('department', 'department')) as part (field, key)
        union all
        select part.field, item ->> part.key
        from jsonb_path_query(profile, '$.skills[*]') as item
        cross join (values ('code', 'code'), ('skill', 'label')) as part (field, key)
    ) as listed (field, entry);
end;

create function opportunity_facets(
    tenant uuid, kind text, department text, location text, work_mode text, classification text, employment_type text,
    company text, job_code text, skills jsonb, languages text[]
) returns tsvector
language sql immutable parallel safe
begin atomic
    select build_facets(tenant, array_agg(field), array_agg(entry))
    from (
        values ('department', department), ('location', location), ('company', company), ('kind', kind),
               ('work_mode', work_mode), ('classification', classification), ('employment_type', employment_type),
               ('job_code', job_code)
        union all
        select 'language', entry from unnest(languages) as entry
        union all
        select part.field, item ->> part.key
        from jsonb_path_query(skills, '$[*]') as item
        cross join (values ('code', 'code'), ('skill', 'label')) as part (field, key)
    ) as listed (field, entry);
end;

create function skill_facets(tenant uuid, label text, alternative_labels text[]) returns tsvector
language sql immutable parallel safe
return build_facets(
    tenant, array_fill('skill'::text, array[1 + cardinality(alternative_labels)]), label || alternative_labels);

alter table people add column facets tsvector not null generated always as (
    person_facets(tenant_id, job_title, department, location, classification, work_mode, profile)) stored;
alter table opportunities add column facets tsvector not null generated always as (
    opportunity_facets(tenant_id, kind, department, location, work_mode, classification, employment_type, company,
                       job_code, skills, languages)) stored;
alter table skills add column facets tsvector not null generated always as (
    skill_facets(tenant_id, label, alternative_labels)) stored;
create index on people using gin (facets);
create index on opportunities using gin (facets);
create index on skills using gin (facets);

-- The titles of a job, its own first, each with an embedding of its own: a title is compared with titles. The rows
-- follow the job's; the import fills in the embeddings. No HNSW index: a job has a dozen titles and the index takes
-- some 4 ms of an import for each. The signs of an embedding are small enough to be compared for all titles of a
-- tenant instead.
create table job_titles (
    tenant_id uuid not null references tenants on delete cascade,
    job_id uuid not null references jobs on delete cascade,
    key text not null,
    title text not null,
    is_alternative boolean not null,
    embedding public.vector(512),
    embedding_model text,
    signs bit(512) generated always as (public.binary_quantize(embedding)::bit(512)) stored,
    primary key (job_id, key)
);
create index on job_titles (tenant_id, key);
create index on job_titles (tenant_id, embedding_model);

-- A title that stays the same, or changes in case and accents alone, keeps its embedding.
create function list_job_titles() returns trigger
language plpgsql set search_path = {schema}, pg_temp as $$
begin
    with listed as (
        select distinct on (1)
            facet(new.tenant_id, 'title', fold_text(title)) as key, title, number > 1 as is_alternative
        from unnest(new.title || new.alternative_titles) with ordinality as given (title, number)
        where fold_text(title) <> ''
        order by 1, number
    ), dropped as (
        delete from job_titles where job_id = new.id and key not in (select key from listed)
    )
    insert into job_titles as kept (tenant_id, job_id, key, title, is_alternative)
    select new.tenant_id, new.id, key, title, is_alternative from listed
    on conflict (job_id, key) do update set is_alternative = excluded.is_alternative
        where kept.is_alternative <> excluded.is_alternative;
    return null;
end $$;
create trigger list_job_titles after insert or update of title, alternative_titles on jobs
    for each row execute function list_job_titles();

-- Jobs that are there already; the owner of a table is under a forced policy too.
alter table jobs no force row level security;
update jobs set title = title;
alter table jobs force row level security;
alter table job_titles enable row level security;
alter table job_titles force row level security;
create policy job_titles_tenant on job_titles to {app}
    using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
create policy job_titles_cross on job_titles for select to {cross} using (true);
grant select, insert, update, delete on job_titles to {app};
grant select on job_titles to {cross};

-- One value of a criterion as a part of a tsquery. A skill is named by its code, by the label that a row carries, or
-- by a label of the tenant's library. Null when nothing of the value is left to compare.
create function facet_term(tenant uuid, field text, value text) returns text
language sql stable parallel safe set search_path = {schema}, pg_temp as $$
    select case
        when field = 'skill' then (
            select string_agg(lexeme, ' | ')
            from (
                select facet(tenant, 'code', value) as lexeme
                union
                select facet(tenant, 'skill', fold_text(value)) where fold_text(value) <> ''
                union
                select facet(tenant, 'code', external_id)
                from skills
                where skills.tenant_id = tenant and fold_text(value) <> ''
                    and skills.facets @@ facet(tenant, 'skill', fold_text(value))::tsquery
            ) as lexemes)
        when is_phrase(field) then (
            select string_agg(facet(tenant, field, word), ' <-> ' order by place)
            from unnest(string_to_array(fold_text(value), ' ')) with ordinality as split (word, place)
            where place <= 32)
        when fold_text(value) <> '' then facet(tenant, field, fold_text(value))
    end
$$;

-- Criteria as one tsquery, null without any. Groups are [{{"field", "operator": "any" or "all", "values": [text]}}].
create function facet_query(tenant uuid, groups jsonb) returns tsquery
language sql stable parallel safe set search_path = {schema}, pg_temp as $$
    select string_agg('(' || terms || ')', ' & ')::tsquery
    from (
        select string_agg('(' || coalesce(facet_term(tenant, item ->> 'field', value), 'none') || ')',
                          case item ->> 'operator' when 'all' then ' & ' else ' | ' end) as terms
        from jsonb_array_elements(groups) with ordinality as listed (item, number)
        cross join jsonb_array_elements_text(item -> 'values') as value
        group by number, item
    ) as compiled
$$;

-- The lexemes of a question, in the languages that searches know.
create function list_lexemes(words text) returns text[]
language sql immutable parallel safe set search_path = {schema}, pg_temp as $$
    select array_agg(distinct lexeme)
    from unnest(array['english', 'french', 'spanish', 'simple']::regconfig[]) as config
    cross join unnest(tsvector_to_array(to_tsvector(config, words))) as lexeme
$$;

-- Null, which finds nothing, without lexemes.
create function any_lexeme(lexemes text[]) returns tsquery
language sql immutable parallel safe
begin atomic
    select string_agg('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''', ' | ')::tsquery
    from unnest(lexemes) as lexeme;
end;

-- Ranking looks at every row found, and a word that half of the rows have finds them all while it tells little. So the
-- rarest words of a question find, as many as together find some `ranked` rows of those under the condition, at least
-- one; all of its words rank what was found. How frequent a word is, is read off 200 pages, the same ones each time.
create function rare_lexemes(searched regclass, condition text, lexemes text[], ranked int) returns text[]
language plpgsql stable set search_path = {schema}, pg_temp as $$
declare
    share constant float := greatest(1, pg_relation_size(searched) / current_setting('block_size')::float / 200);
    rare text[];
begin
    execute format(
        'with sample as materialized (
            select search from %s tablesample system (100 / %s) repeatable (0) where %s
        ), asked as materialized (
            select lexeme, any_lexeme(array[lexeme]) as query from unnest($1) as lexeme
        ), counted as (
            select lexeme, count(sample) * %s as hits
            from asked left join sample on sample.search @@ asked.query
            group by lexeme
        ), added as (
            select lexeme, hits, sum(hits) over (order by hits, lexeme) as total from counted
        )
        select array_agg(lexeme) from added where total <= $2 or total = hits', searched, share, condition, share)
    into rare using lexemes, ranked;
    return rare;
end $$;

-- How many rows are better compared one by one. Where f of n rows pass the filters, the index looks at some k n / f
-- rows to find k of them, an exact search at f: up to f = sqrt(k n) exact is cheaper, and it is always right. Above
-- that the index needs no more than sqrt(k n) rows, unless the filters and the question point to different corners: at
-- twice as many it gives up, and the search is exact after all (with distances materialized, or the planner might
-- order by the index that was just given up). 2,000 rows take some 25 ms.
--
-- Which of the two is a search's own decision, so searches by vector turn sorting off (enable_sort): the planner's costs
-- leave out that every vector is stored apart from its row, and it sorted 7,200 skills in 25 ms that the index has in one.
create function exact_rows(searched regclass, wanted int) returns int
language sql stable parallel safe
return (
    select greatest(2000, sqrt(greatest(wanted, 1) * greatest(reltuples, 0)))::int from pg_class where oid = searched);

-- The zero vector, as an embedder may answer for a text without words, is close to nothing: its cosines are NaN, which is
-- more than every threshold. Searches by vector find nothing for it, and no row that has it.

-- The rows that filters let through, once for all searches of a kind. Plain SQL without settings of its own, so that
-- the planner puts it into the searches' queries and their indexes are used.
create function people_within(tenant uuid, wanted tsquery, excluded text[]) returns setof people
language sql stable as $$
    select * from people
    where tenant_id = tenant and active and (wanted is null or facets @@ wanted) and external_id <> all (excluded)
$$;

create function opportunities_within(
    tenant uuid, wanted tsquery, posted_after date, open_on date, excluded text[]
) returns setof opportunities
language sql stable as $$
    select * from opportunities
    where tenant_id = tenant and active and (wanted is null or facets @@ wanted)
        and (posted_after is null or posted_on > posted_after)
        and (open_on is null or closes_on is null or closes_on >= open_on)
        and external_id <> all (excluded)
$$;

create function trainings_within(
    tenant uuid, languages text[], levels text[], formats text[], max_minutes int, excluded text[]
) returns setof trainings
language sql stable as $$
    select * from trainings
    where tenant_id = tenant and active
        and (languages is null or language = any (languages))
        and (levels is null or level = any (levels))
        and (formats is null or format = any (formats))
        and (max_minutes is null or duration_minutes <= max_minutes)
        and external_id <> all (excluded)
$$;

-- By id and not by name: nobody comes first for a name.
create function search_people_by_facets(groups jsonb, excluded text[], max_rows int) returns table (person_id text)
language plpgsql stable security definer set search_path = {schema}, pg_temp as $$
#variable_conflict use_column
declare
    tenant uuid := current_tenant();
    wanted tsquery := facet_query(tenant, groups);
begin
    return query
        select found.external_id from people_within(tenant, wanted, excluded) as found
        order by found.external_id limit max_rows;
end $$;

create function search_opportunities_by_facets(
    groups jsonb, posted_after date, open_on date, excluded text[], max_rows int
) returns table (opportunity_id text)
language plpgsql stable security definer set search_path = {schema}, pg_temp as $$
#variable_conflict use_column
declare
    tenant uuid := current_tenant();
    wanted tsquery := facet_query(tenant, groups);
begin
    return query
        select found.external_id
        from opportunities_within(tenant, wanted, posted_after, open_on, excluded) as found
        order by found.posted_on desc nulls last, found.external_id limit max_rows;
end $$;

-- The closest active job: an equal title, else the closest of those whose embeddings have the most signs in common. Of
-- equally close titles a job's own goes before an alternative one.
create function match_job(asked text, vector public.vector, model text)
returns table (mapped_title text, job_code text, similarity double precision)
language plpgsql stable security definer set search_path = {schema}, pg_temp as $$
#variable_conflict use_column
declare
    tenant uuid := current_tenant();
    compared constant int := 100;
begin
    return query
        select job.title, job.external_id, 1.0::double precision
        from job_titles as named join jobs as job on job.id = named.job_id and job.active
        where named.tenant_id = tenant and named.key = facet(tenant, 'title', fold_text(asked))
        order by named.is_alternative, job.external_id
        limit 1;
    if found or vector is null or public.vector_norm(vector) = 0 then
        return;
    end if;
    return query
        with near as materialized (
            select named.job_id, named.key
            from job_titles as named join jobs as job on job.id = named.job_id and job.active
            where named.tenant_id = tenant and named.embedding_model = model
            order by named.signs operator(public.<~>) public.binary_quantize(vector)::bit(512)
            limit compared
        )
        select job.title, job.external_id,
               1 - nullif(named.embedding operator(public.<=>) vector, 'NaN') as similarity
        from near
        join job_titles as named on named.job_id = near.job_id and named.key = near.key
        join jobs as job on job.id = near.job_id
        order by similarity desc nulls last, named.is_alternative, job.external_id
        limit 1;
end $$;

-- The best active skill: an equal label, then an equal alternative label, else the closest embedding.
create function match_skill(asked text, vector public.vector, model text)
returns table (mapped_label text, code text, similarity double precision)
language plpgsql stable security definer
set search_path = {schema}, pg_temp
set hnsw.iterative_scan = 'strict_order'
set hnsw.max_scan_tuples = 20000
set enable_sort = off
as $$
#variable_conflict use_column
declare
    tenant uuid := current_tenant();
    folded text := fold_text(asked);
    few int := exact_rows('skills', 1);
    mine bigint;
begin
    return query
        select skill.label, skill.external_id, 1.0::double precision
        from skills as skill
        where skill.tenant_id = tenant and skill.active and skill.facets @@ facet(tenant, 'skill', folded)::tsquery
        order by fold_text(skill.label) = folded desc, skill.external_id
        limit 1;
    if found or vector is null or public.vector_norm(vector) = 0 then
        return;
    end if;
    mine := (select count(*) from (select from skills where tenant_id = tenant limit few + 1) as counted);
    if mine > few then
        return query
            select skill.label, skill.external_id, 1 - nullif(skill.embedding operator(public.<=>) vector, 'NaN')
            from skills as skill
            where skill.tenant_id = tenant and skill.active and skill.embedding_model = model
            order by skill.embedding operator(public.<=>) vector
            limit 1;
    end if;
    if mine <= few or not found then
        return query
            with near as materialized (
                select skill.label, skill.external_id,
                       1 - nullif(skill.embedding operator(public.<=>) vector, 'NaN') as similarity
                from skills as skill
                where skill.tenant_id = tenant and skill.active and skill.embedding_model = model
            )
            select near.label, near.external_id, near.similarity
            from near
            order by near.similarity desc nulls last, near.external_id
            limit 1;
    end if;
end $$;

-- Who may call the searches. Plans depend on what is asked for, and compiling one takes longer than running it.
create procedure publish_search(signature text) language plpgsql as $$
begin
    execute format('alter function %s owner to {cross}', signature);
    execute format('revoke all on function %s from public', signature);
    execute format('grant execute on function %s to {app}', signature);
    execute format('alter function %s set plan_cache_mode = force_custom_plan', signature);
    execute format('alter function %s set jit = off', signature);
end $$;

call publish_search('search_people_by_facets(jsonb, text[], int)');
call publish_search('search_opportunities_by_facets(jsonb, date, date, text[], int)');
call publish_search('match_job(text, public.vector, text)');
call publish_search('match_skill(text, public.vector, text)');
