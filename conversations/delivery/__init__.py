"""Live delivery: the bridge, an append-only log of events for each message that is being written.

The database holds what a message says; the bridge only carries how it came to say it. Writers commit first and then
publish as best they can; whoever misses something begins again from the database.
"""
