"""What people upload into a conversation: names, text extraction, rows, and the bucket for large files."""
