"""What `display_user_profile_tool` is made of, one concern per module."""
