"""The unread runtime's pure half: events in, answers out; no Django, no SQL, no clock but the injected one."""
