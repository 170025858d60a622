"""Training Matching: why one training fits one person (seeds/oria_tools.md, training_finder_tool)."""
