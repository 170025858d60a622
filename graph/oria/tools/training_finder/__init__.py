"""What `training_finder_tool` is made of, one concern per module."""
