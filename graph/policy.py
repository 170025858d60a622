"""Every deadline, budget and limit of the assistants, in one table.

Nothing else in `graph/` writes such a number. Sources: the seed documents `oria_orchestration.md` (O) and
`oria_tools.md` (T), and the design (D, with its section). Where no source is named, the reason is given.
`template.yaml` carries the stage seconds as `Timeout`; a test compares the two.
"""

from typing import Final

# Deadlines of stages, in seconds of wall clock.
GATE_SECONDS: Final = 15.0  # O, Pre-supervisor decisions: decision and boundary text share it
SUPERVISOR_SECONDS: Final = 30.0  # O, Execution budgets
SPECIALIST_SECONDS: Final = 180.0  # O, Execution budgets: nested tools and handoffs included
KNOWLEDGE_SECONDS: Final = 45.0  # O, Execution budgets
MEMORY_SECONDS: Final = 30.0  # O, Execution budgets

# Budgets shared by all stages of one turn that name them, in seconds.
SPECIALIST_BUDGET_SECONDS: Final = 180.0  # D 2.2: handovers share one specialist budget, kept in the row

# Deadlines inside stages, in seconds.
ROUTING_DECISION_SECONDS: Final = 15.0  # O, Supervisor and handoffs: retry waits included
SUMMARY_SECONDS: Final = 12.0  # what the supervisor's 30 leave beside the decision's 15 and the commit

# What one specialist invocation may do.
SPECIALIST_MODEL_CALLS: Final = 8  # O, Specialist call limits
SPECIALIST_TOOL_CALLS: Final = 6  # O, Specialist call limits
KNOWLEDGE_MODEL_CALLS: Final = 4  # O, Specialist call limits: its own four turns

# Research behind Career Chat (O, Career Chat and Knowledge Base; T, search_knowledge_sources and read_knowledge_page).
KNOWLEDGE_RESEARCH_SECONDS: Final = 26.0  # searching and reading; with the synthesis it fits into the stage's 45
KNOWLEDGE_SYNTHESIS_SECONDS: Final = 14.0
KNOWLEDGE_COMMIT_SECONDS: Final = 1.0  # what research leaves of its deadline, so that it ends itself
KNOWLEDGE_SEARCHES: Final = 2  # T
KNOWLEDGE_PASSAGES: Final = 5  # O: the five-passage limit
KNOWLEDGE_QUERY_CHARACTERS: Final = 1_000
KNOWLEDGE_CONVERSATION_MESSAGES: Final = 8  # what "and for part-timers?" refers to
KNOWLEDGE_MESSAGE_CHARACTERS: Final = 4_000  # of the question; the others are cut as records are
KNOWLEDGE_ENTRY_PAGES: Final = 4  # opened with the first search; those of more sources can be read by their ids
KNOWLEDGE_PAGES: Final = 8  # requests of one research, entry pages included
KNOWLEDGE_READS: Final = 6  # excerpts; two model turns can ask for no more than a few at once
KNOWLEDGE_PAGE_SECONDS: Final = 6.0  # of one page with its redirects: entry, a link and another fit into the research
KNOWLEDGE_PAGE_BYTES: Final = 2_000_000  # no page that a person reads is larger
KNOWLEDGE_EXPANDED_BYTES: Final = 8_000_000
KNOWLEDGE_PAGE_CHARACTERS: Final = 200_000
KNOWLEDGE_EXCERPT_CHARACTERS: Final = 4_000  # about 1,000 tokens: all that may be read is 10,000
KNOWLEDGE_ENTRY_CHARACTERS: Final = 1_500  # of an entry page, beside its links
KNOWLEDGE_LINKS: Final = 40  # shown of one page
KNOWLEDGE_LINK_CHARACTERS: Final = 160  # of the words round a link
KNOWLEDGE_SECTIONS: Final = 40  # shown of one page
KNOWLEDGE_NAVIGATION_WORDS: Final = 4  # a line with a link and fewer other words only leads on
KNOWLEDGE_LABEL_CHARACTERS: Final = 160  # of a title or heading
KNOWLEDGE_ANSWER_TOKENS: Final = 1_024  # as a summary: an answer to one question

# What the gate reads and writes.
GATE_EVIDENCE_TEXTS: Final = 10  # O, Pre-supervisor decisions: nonempty texts of the transcript
BOUNDARY_OUTPUT_TOKENS: Final = 512  # O, Pre-supervisor decisions

# The bounded `messages` channel. Tokens are langchain-core's approximation (four characters each).
WINDOW_MESSAGES: Final = 60  # D 2.3 and 9: beyond it the supervisor summarises
WINDOW_TOKENS: Final = 12_000  # D 9
KEPT_MESSAGES: Final = 30  # what a model request shows anyway; half a window, so that not every turn summarises
KEPT_TOKENS: Final = 6_000  # the same half
CEILING_MESSAGES: Final = 120  # two windows: what the reducer enforces while no summary can be had
ARTIFACT_MESSAGES: Final = 25  # O, Search result identity
SUMMARY_OUTPUT_TOKENS: Final = 1_024  # D 9

# What a specialist's model request shows of it (O, Conversation size management).
EDIT_TOOL_RESULTS_TOKENS: Final = 8_000
EDIT_KEPT_TOOL_RESULTS: Final = 3
TRIM_MESSAGES: Final = 30
TRIM_TOKENS: Final = 12_000

# Records of the routing and summary requests: one tool result must not crowd out the conversation.
RECORD_CHARACTERS: Final = 2_000

# The preference list of a person. It goes whole into every prompt that uses it.
PREFERENCE_ITEMS: Final = 50
PREFERENCE_CHARACTERS: Final = 400

# Interactions that agents open.
CLARIFICATION_QUESTIONS: Final = 5  # T, request_clarification_tool groups what is indispensable; more is a form
QUESTION_OPTIONS: Final = 12  # what a person can survey in one selection
QUESTION_CHARACTERS: Final = 1_000

# A profile as tools read it: a list may have 1,000 entries with texts of 20,000 characters (catalog/people.py).
PROFILE_LIST_CHARACTERS: Final = 20_000  # more than 200 skills, or some 20 positions with their descriptions
PROFILE_TEXT_CHARACTERS: Final = 1_000  # of a description

# Embedding what one call searches with. It has a fallback or a stable error, and neither may wait for the stage's end.
EMBEDDING_SECONDS: Final = 15.0  # as the decisions about a request

# Every search (T, training_finder_tool). Equal weights: neither list has been measured to be the better one, and k is
# the value of the paper that introduced reciprocal rank fusion (Cormack, Clarke, Büttcher 2009).
FUSION_K: Final = 60
FUSION_LEXICAL_WEIGHT: Final = 1.0
FUSION_VECTOR_WEIGHT: Final = 1.0
FUSION_CANDIDATES: Final = 50  # of each list

# Training search (T, training_finder_tool).
TRAINING_RESULTS: Final = 5
TRAINING_PLAN_RESULTS: Final = 8
TRAINING_QUERY_CHARACTERS: Final = 2_000
TRAINING_EVIDENCE_MESSAGES: Final = 10
PLAN_QUESTIONS: Final = 3  # T: the first three missing dimensions
SEARCH_QUESTIONS: Final = 1  # T: an uninterpretable search
PLAN_KNOWN_DIMENSIONS: Final = 2  # T: enough to build a plan
PLAN_PHASES: Final = 3
PLAN_ASSUMED_MINUTES: Final = 60  # for a training of unknown length
PLAN_WEEKLY_MINUTES: Final = 120  # assumed when the person named no time
TRAINING_PROFILE_TERMS: Final = 12  # more would drown the words of the request
LIKELY: Final = 0.5  # a predicate holds when it is more likely than not
SCOPE_SECONDS: Final = 15.0  # as the other decisions; the check is optional, so it fails open
PLAN_TEXT_SECONDS: Final = 20.0

# Rationales of what a search shows (T, talent_finder_tool; issue 3: only for supported matches).
RATIONALE_SECONDS: Final = 20.0  # as the texts of a plan; optional, so it falls back
RATIONALE_CHARACTERS: Final = 400  # two sentences
RATIONALE_VALUES: Final = 4  # of one fact: what a sentence can name

# Opportunity search (T, search_opportunities_tool). The list of the search counts as the two that it was fused from,
# the profile as one, so that a good match of the request is not outweighed by the profile.
OPPORTUNITY_SEARCH_WEIGHT: Final = 2.0
OPPORTUNITY_PROFILE_WEIGHT: Final = 1.0
OPPORTUNITY_RESULTS: Final = 5  # T: the presentation limit, as for trainings
OPPORTUNITY_QUERY_CHARACTERS: Final = 2_000
OPPORTUNITY_PROFILE_TERMS: Final = 12  # more would drown the words of the request
OPPORTUNITY_CRITERION_VALUES: Final = 10  # more is no criterion that a person stated
OPPORTUNITY_CRITERION_CHARACTERS: Final = 200
OPPORTUNITY_UNDERSTANDING_SECONDS: Final = 15.0  # as the other decisions

# Jobs (T, map_jobs_tool and get_jobs_tool). Bounds of one call: a profile names fewer, and a result must stay readable.
JOB_TITLES: Final = 20
JOB_CODES: Final = 20
JOB_DESCRIPTION_CHARACTERS: Final = 2_000

# Simulations (T, suggest_simulation): suggesting one.
SIMULATION_REQUEST_CHARACTERS: Final = 2_000
SIMULATION_EVIDENCE_MESSAGES: Final = 10  # what a request such as "let us practise that" refers to
SIMULATION_PARSE_SECONDS: Final = 15.0  # as the other judgements of a request
SIMULATION_SCENARIO_SECONDS: Final = 60.0  # the longest text that a tool has generated
SIMULATION_OUTCOMES: Final = (1, 5)  # fewest and most; T names three as ordinary for a beginner
SIMULATION_SKILLS: Final = (1, 4)
SIMULATION_CRITERIA: Final = (1, 5)  # of one skill
SIMULATION_MINUTES: Final = (5, 45)  # T: about 10 is a beginner's; beyond a lesson nobody types on
SIMULATION_LABEL_CHARACTERS: Final = 120
SIMULATION_TEXT_CHARACTERS: Final = 1_500

# Simulations: practising one. One exchange is a message of the person and the counterpart's reply.
SIMULATION_EXCHANGES_PER_MINUTE: Final = 1.5  # reading, thinking and typing two or three sentences take 40 s
SIMULATION_EXCHANGES: Final = (8, 40)  # too few end a short scenario before its point; 40 bound cost and assessment
SIMULATION_TIME_FACTOR: Final = 3.0  # estimates are approximate (T), and people are called away from a keyboard
SIMULATION_CLOSING_EXCHANGES: Final = 2  # from here on the counterpart brings the talk to its end
SIMULATION_LINE_TOKENS: Final = 1_024  # a line has a few sentences; a cut one fails the turn, so this is generous
SIMULATION_ASSESSMENT_SECONDS: Final = 120.0  # leaves the stage's 180 time to commit
SIMULATION_QUOTES: Final = 3  # shown for each judgement
SIMULATION_QUOTE_CHARACTERS: Final = (12, 400)  # a shorter one is found in any talk; a longer one is no quote
SIMULATION_NEXT_STEPS: Final = 4
SIMULATION_REASON_CHARACTERS: Final = 500  # two sentences

# People (T, person_disambiguation_tool and suggest_simulation).
PERSON_SIMILARITY: Final = 0.55  # T: a candidate's name is more similar than this
PERSON_DETAIL_CHARACTERS: Final = 60  # of a job title, department or location: enough to tell namesakes apart

# Talent search (T, talent_finder_tool).
TALENT_RESULTS: Final = 5  # the presentation limit, as for trainings
TALENT_QUERY_CHARACTERS: Final = 2_000
TALENT_CRITERIA: Final = 12  # as many as the question after an empty search can offer
TALENT_CRITERION_VALUES: Final = 10  # more is no condition that a person stated
TALENT_CRITERION_CHARACTERS: Final = 200
TALENT_CARD_SKILLS: Final = 20  # of one person; a card is no profile
TALENT_CARD_EXPERIENCES: Final = 5
TALENT_CHANGE_SECONDS: Final = 15.0  # as the other decisions
TALENT_MISS_SECONDS: Final = 15.0  # optional, so it falls back
TALENT_MISS_CHARACTERS: Final = 500

# Skills (T, map_skills_tool): of one call, as for jobs; a CV names more skills than jobs.
SKILL_LABELS: Final = 50

# Task guidance (T, task_helper_tool): three output budgets by the length of the question. The borders, in characters:
# one or two sentences name a task, a paragraph describes it, and what is longer brings material to work on.
TASK_SMALL_TOKENS: Final = 1_000
TASK_MEDIUM_TOKENS: Final = 1_400
TASK_LARGE_TOKENS: Final = 1_800
TASK_SHORT_QUESTION: Final = 200
TASK_LONG_QUESTION: Final = 600
TASK_WORDS_PER_TOKEN: Final = 0.5  # what the model is told; French and Spanish take nearly two tokens a word
TASK_TEMPERATURE: Final = 0.2  # T: low
TASK_QUESTION_CHARACTERS: Final = 8_000
TASK_CONTEXT_MESSAGES: Final = 6  # the exchange about the task; the question stands on its own
TASK_SECONDS: Final = 60.0  # 1,800 tokens at 40 a second take 45

# Profile analysis (T, display_user_profile_tool). How much of a profile goes into a prompt: what a reader of a profile
# would look at; the largest evidence has some 7,000 tokens.
ANALYSIS_SKILLS: Final = 40
ANALYSIS_GAPS: Final = 6  # T: up to six skill-gap objectives
ANALYSIS_OBJECTIVES: Final = 10
ANALYSIS_EXPERIENCES: Final = 8
ANALYSIS_TRAININGS: Final = 20
ANALYSIS_INTERESTS: Final = 20
ANALYSIS_LABEL_CHARACTERS: Final = 100
ANALYSIS_TEXT_CHARACTERS: Final = 300
ANALYSIS_STRENGTHS: Final = 5
ANALYSIS_WRITTEN_CHARACTERS: Final = 1_200  # of one generated text; four sentences
# The person waits for all three together, so each has about what the longest of them needs.
ANALYSIS_COPY_SECONDS: Final = 30.0
ANALYSIS_OBJECTIVES_SECONDS: Final = 25.0
ANALYSIS_ESTIMATE_SECONDS: Final = 20.0
