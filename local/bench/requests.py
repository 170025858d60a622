"""One typical request for each specialist on the sample tenant: what the person writes and what the model answers.

The tools search the tenant's real data with these words; only the model's part is fixed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from local.bench.assistant import ID

ORIA, SIMULATION = "oria", "simulation"
SUGGESTION: Final = "simulation, suggested"


@dataclass(frozen=True)
class Request:
    """A message, the specialist that gets it, and the call that its model makes; no `tool` is an answer at once."""

    name: str
    message: str
    agent: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    assistant: str = ORIA


REQUESTS: Final = (
    Request("plain turn, no model", "Nothing is asked of a model here.", assistant=ID),
    Request(
        "career_chat",
        "What does my profile say about my strengths?",
        "career_chat",
        "get_user_profile_selective_tool",
        {"need_basic_info": True, "need_skills": True},
    ),
    Request(
        "opportunity_search",
        "Which analyst jobs are open in Rotterdam?",
        "opportunity_search",
        "search_opportunities_tool",
        {"query": "Analyst jobs in Rotterdam"},
    ),
    Request(
        "training_finder",
        "Which trainings teach Python for data analysis?",
        "training_finder",
        "training_finder_tool",
        {"query": "Python for data analysis", "is_learning_plan": False},
    ),
    Request(
        "talent_finder",
        "Who in IT knows SQL?",
        "talent_finder",
        "talent_finder_tool",
        {
            "query": "Colleagues in IT who know SQL",
            "intent": {
                "criteria": [
                    {"field": "skill", "operator": "any", "values": ["SQL querying"]},
                    {"field": "department", "operator": "any", "values": ["IT and Data"]},
                ]
            },
        },
    ),
    Request("profile_analysis", "Analyse my profile, please.", "profile_analysis", "display_user_profile_tool"),
    Request(
        "task_helper",
        "Help me outline the agenda of Thursday's handover.",
        "task_helper",
        "task_helper_tool",
        {"user_question": "An agenda for Thursday's handover between two teams"},
    ),
    # The confirmed person returns the turn to the supervisor, so this row has two stages of each kind.
    Request(
        "person_disambiguation",
        "I have to talk to Linh Nguyen tomorrow.",
        "person_disambiguation",
        "person_disambiguation_tool",
        {"person_name": "Linh Nguyen"},
    ),
    Request(
        SUGGESTION,
        "Let me practise telling a colleague that a report was late.",
        "career_chat",
        "suggest_simulation",
        {"request": "Telling a colleague that a report was late", "counterpart_name": "Linh Nguyen"},
    ),
    Request("simulation, a line", "Your report came three days late.", assistant=SIMULATION),
)

# What a structured answer says, by the name of its schema.
WRITTEN: Final[Mapping[str, Mapping[str, Any]]] = {
    "OpportunitySearchCriteria": {
        "topic": "data analysis",
        "kinds": ["job"],
        "departments": [],
        "locations": ["Rotterdam"],
        "work_modes": [],
        "classifications": [],
        "employment_types": [],
        "companies": [],
        "languages": [],
        "skills": ["SQL querying"],
        "all_skills": False,
        "posted_within_days": None,
    },
    "Rationales": {"rationales": []},
    "WrittenCopy": {"summary": "An analyst who builds what operations reads.", "strengths": ["Dashboards"]},
    "WrittenObjectives": {"objectives": [{"gap": 1, "title": "Tell a story", "description": "Present one finding."}]},
    "Brief": {
        "situation": "A report was late and a team waited for it.",
        "counterpart_role": "colleague",
        "goal": "Agree on a date.",
        "skills": ["Giving feedback", "Listening"],
    },
    "Draft": {
        "title": "The late report",
        "situation": "A report was late and a team waited for it.",
        "counterpart": {"role": "colleague", "attitude": "defensive", "instructions": "You were short of time."},
        "goal": "Agree on a date.",
        "opening_line": "You wanted to see me?",
        "expected_outcomes": ["Both confirm a date."],
        "skills": [{"title": "Giving feedback", "catalogue_number": 1, "criteria": ["names the impact"]}],
        "difficulty": "beginner",
        "estimated_minutes": 10,
    },
}
