"""Physical storage of message content, inline and in parts.

`store` writes and `reading` reads; both take and give complete logical models. That a block may lie in another row,
and where, is known in this package alone.
"""
