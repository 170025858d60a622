"""The parts of task_helper_tool."""
