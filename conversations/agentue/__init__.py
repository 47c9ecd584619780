"""AgentUE 1.1: the semantic model of a message's content and the events that change it.

Pure protocol on the standard library alone. `static/js/agentue.js` is the same reducer for the browser; both play
`tests/data/agentue.json` and `tests/data/agentue_more.json` and answer every refusal with the same code.
"""
