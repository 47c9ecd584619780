"""Importing what a team wrote elsewhere: a Slack export becomes history that everybody has read.

`archive` opens the zip and trusts nothing in it; `records` gives its JSON types; `inspection` reads the whole archive
once before the first write; `text`, `content` and `kinds` translate; `people`, `channels`, `history` and `threads`
write in bulk; `slack` is the order of it all; `replay` plays an export over HTTP as live traffic instead.
"""
