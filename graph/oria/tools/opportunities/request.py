"""The arguments of the two searches."""

from pydantic import BaseModel, Field

MORE = "True only when the person explicitly asks for more or other results of the same search."


class OpportunityRequest(BaseModel):
    """Arguments of `search_opportunities_tool`."""

    query: str = Field(description="What the person wants now, as a sentence that stands on its own, in their words.")
    show_more_opportunities: bool = Field(False, description=MORE)


class ObjectiveOpportunityRequest(BaseModel):
    """Arguments of `suggest_opportunities_based_on_objective_tool`."""

    objective_id: str = Field(description="Exact id of the objective, copied from a tool result.")
    user_message: str = Field(description="The person's latest message.")
    show_more_opportunities: bool = Field(False, description=MORE)
