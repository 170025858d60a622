"""What a document says: its sections, links and title, out of the bytes that a location holds."""
