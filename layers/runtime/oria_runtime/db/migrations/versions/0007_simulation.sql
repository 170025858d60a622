-- What a conversation was started with: a simulation's scenario. Null for an ordinary conversation.
alter table conversations add column start jsonb;
