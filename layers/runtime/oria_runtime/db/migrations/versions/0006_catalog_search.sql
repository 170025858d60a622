-- Searches of opportunities, people, jobs and skills, after the pattern of 0003.

-- Comparison of names across spellings, where the database has no unaccent: lower case, Latin accents folded.
create function fold_text(words text) returns text
language sql immutable parallel safe as $$
    select translate(lower(words), 'àáâãäåçèéêëìíîïñòóôõöøùúûüýÿ', 'aaaaaaceeeeiiiinoooooouuuuyy')
$$;
