"""Markdown as GitHub and Jekyll read it, as far as text, headings and links go.

Every pattern here is linear: none can begin a search to the end of a text from each of its characters. A document of
several megabytes is read in the process that serves others.
"""
